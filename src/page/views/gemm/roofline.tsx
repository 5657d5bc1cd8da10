/** The roofline: this product and the earlier ones of the visit under the roofs that were measured on this device. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Extent, extentOf, type Point, type Roof, type Roofs } from './roofline-model.ts';
import { rate, short } from './words.ts';

interface RooflineProps {
  readonly roofs: Roofs;
  /** The roof that bounds this product. */
  readonly bound: Roof;
  /** Operations a byte of this product. */
  readonly perByte: number;
  /** Null before it was measured. */
  readonly now: Point | null;
  readonly earlier: readonly Point[];
  /** The same in words. */
  readonly text: string;
}

const MARGIN = { left: 58, right: 24, top: 14, bottom: 42 };

export function Roofline(props: RooflineProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <figure class="section gemm-roofline">
      <div ref={box}>{width > 0 && <Chart {...props} width={width} />}</div>
      <figcaption class="small">{props.text}</figcaption>
    </figure>
  );
}

function Chart({
  roofs,
  bound,
  perByte,
  now,
  earlier,
  text,
  width,
}: RooflineProps & { readonly width: number }) {
  const height = Math.round(Math.max(260, Math.min(420, width * 0.55)));
  const points = now ? [now, ...earlier] : earlier;
  const extent = extentOf(roofs, points, perByte);
  const x = scale(extent.x, MARGIN.left, width - MARGIN.right);
  const y = scale(extent.y, height - MARGIN.bottom, MARGIN.top);
  const top = roofs.compute[roofs.compute.length - 1].gflops;
  const atMost = Math.min(bound.gflops, roofs.gbps * perByte);
  return (
    <svg class="gemm-chart" width={width} height={height} role="img" aria-label={`Roofline. ${text}`}>
      <Axes extent={extent} x={x} y={y} width={width} height={height} />
      <Memory roofs={roofs} extent={extent} top={top} x={x} y={y} />
      {roofs.compute.map(roof => (
        <g key={roof.name}>
          <line
            class={`gemm-roof${roof === bound ? '' : ' gemm-roof-other'}`}
            x1={x(roof.gflops / roofs.gbps)}
            x2={x(extent.x[1])}
            y1={y(roof.gflops)}
            y2={y(roof.gflops)}
          />
          <text x={x(extent.x[1])} y={y(roof.gflops) - 6} text-anchor="end">
            {`${roof.label}: ${rate(roof)}`}
          </text>
        </g>
      ))}
      <line class="gemm-at" x1={x(perByte)} x2={x(perByte)} y1={y(atMost)} y2={height - MARGIN.bottom} />
      {earlier.map((point, index) => (
        <circle key={index} class="gemm-earlier" cx={x(point.intensity)} cy={y(point.gflops)} r="4">
          <title>{`${point.label}: ${rate(point)}`}</title>
        </circle>
      ))}
      <circle class="gemm-most" cx={x(perByte)} cy={y(atMost)} r="4.5" />
      {now && <Now point={now} x={x(now.intensity)} y={y(now.gflops)} width={width} />}
    </svg>
  );
}

type Scale = (value: number) => number;

/** Logarithmic, from the ends of an axis to pixels. */
function scale([low, high]: readonly [number, number], from: number, to: number): Scale {
  const span = Math.log(high / low);
  return value => from + (Math.log(Math.max(value, low) / low) / span) * (to - from);
}

function Now({
  point,
  x,
  y,
  width,
}: {
  readonly point: Point;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}) {
  const left = x > width * 0.6;
  return (
    <>
      <circle class="gemm-now" cx={x} cy={y} r="6.5" />
      <text class="gemm-now-text" x={left ? x - 12 : x + 12} y={y + 4} text-anchor={left ? 'end' : 'start'}>
        {rate(point)}
      </text>
    </>
  );
}

function Memory({
  roofs,
  extent,
  top,
  x,
  y,
}: {
  roofs: Roofs;
  extent: Extent;
  top: number;
  x: Scale;
  y: Scale;
}) {
  const low = Math.max(extent.x[0], extent.y[0] / roofs.gbps);
  const [x1, y1, x2, y2] = [x(low), y(low * roofs.gbps), x(top / roofs.gbps), y(top)];
  const turn = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  const [atX, atY] = [x1 + (x2 - x1) * 0.08, y1 + (y2 - y1) * 0.08];
  return (
    <>
      <line class="gemm-roof" x1={x1} y1={y1} x2={x2} y2={y2} />
      <text transform={`translate(${atX} ${atY}) rotate(${turn})`} y="16">
        {`copy: ${short(roofs.gbps)} GB/s`}
      </text>
    </>
  );
}

interface AxesProps {
  readonly extent: Extent;
  readonly x: Scale;
  readonly y: Scale;
  readonly width: number;
  readonly height: number;
}

function Axes({ extent, x, y, width, height }: AxesProps) {
  const bottom = height - MARGIN.bottom;
  const columns = powers(extent.x, 4).filter((_, index, all) => all.length < width / 60 || index % 2 === 0);
  return (
    <g class="gemm-axes">
      {columns.map(at => (
        <g key={at}>
          <line x1={x(at)} x2={x(at)} y1={MARGIN.top} y2={bottom} />
          <text x={x(at)} y={bottom + 16} text-anchor="middle">
            {at >= 1 ? at.toLocaleString('en-US') : `1/${1 / at}`}
          </text>
        </g>
      ))}
      {powers(extent.y, 10).map(at => (
        <g key={at}>
          <line x1={MARGIN.left} x2={width - MARGIN.right} y1={y(at)} y2={y(at)} />
          <text x={MARGIN.left - 8} y={y(at) + 4} text-anchor="end">
            {at >= 1000 ? `${at / 1000} T` : `${at} G`}
          </text>
        </g>
      ))}
      <text x={(MARGIN.left + width - MARGIN.right) / 2} y={height - 6} text-anchor="middle">
        operations for each byte
      </text>
      <text transform={`translate(12 ${(MARGIN.top + bottom) / 2}) rotate(-90)`} text-anchor="middle">
        operations a second
      </text>
    </g>
  );
}

/** The powers of a base between two ends. */
function powers([low, high]: readonly [number, number], base: number): number[] {
  const all: number[] = [];
  for (
    let power = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
    base ** power <= high * (1 + 1e-9);
    power++
  ) {
    all.push(base ** power);
  }
  return all;
}
