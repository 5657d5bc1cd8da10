/** The ladder as an SVG picture. ECharts is large: import this module dynamically. */
import { COLOURS, drawSvg, INK, titleOf, valueAxis } from '../svg-chart.ts';
import type { LadderRecord, RungRecord } from './record.ts';

const ROW = 44;
const LABELS = 352;

/** @param ideas the one idea of each rung, by its id */
export function ladderChart(record: LadderRecord, ideas: readonly { id: string; idea: string }[]): string {
  const { rungs } = record;
  const { m, n, k } = record.problem;
  return drawSvg(120 + ROW * rungs.length, {
    title: titleOf(`The matmul ladder, ${m}×${n}×${k}`, record),
    grid: { left: 24 + LABELS, right: 150, top: 84, bottom: 40 },
    xAxis: valueAxis('GFLOP/s'),
    yAxis: {
      type: 'category',
      inverse: true,
      data: rungs.map(({ rung, id }) => `{rung|${rung}}${ideas.find(one => one.id === id)?.idea ?? id}`),
      axisTick: { show: false },
      axisLabel: {
        ...{ color: INK, fontSize: 13, align: 'left', margin: LABELS },
        // A column of their own, so that the ideas line up.
        rich: { rung: { width: 28, fontWeight: 'bold', color: INK, fontSize: 13 } },
      },
    },
    series: [
      {
        type: 'bar',
        barWidth: '62%',
        itemStyle: { color: COLOURS[0], borderRadius: [0, 3, 3, 0] },
        data: rungs.map(rung => ({
          value: rung.gflops ?? 0,
          label: { show: true, position: 'right', color: INK, formatter: labelOf(rung) },
        })),
      },
    ],
  });
}

/** A rung without a figure has an empty bar that says why. */
function labelOf({ gflops, overBelow, status }: RungRecord): string {
  if (gflops === null) return status === 'unsupported' ? 'not on this device' : status.toUpperCase();
  const figure = gflops.toLocaleString('en-US', { maximumSignificantDigits: 4 });
  return overBelow === null ? figure : `${figure}  (× ${overBelow.toFixed(2)})`;
}
