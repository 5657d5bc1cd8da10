/** A chart as an SVG of 1200 × 675, the size that social networks and chats show whole. Pure. */
import type { Chart, ChartRow } from './chart.ts';
import type { Look } from './look.ts';

export const WIDTH = 1200;
export const HEIGHT = 675;

const EDGE = 56;
const TOP = 168;
const BOTTOM = HEIGHT - 84;
/** From a row's label to its bars. */
const LABELS = { short: 230, long: 460 };
/** Of one bar. */
const THICKEST = 56;
/** What stands behind the longest bar, at the least. */
const BEHIND = 120;

export function pictureOf(chart: Chart, look: Look): string {
  const legend = chart.series.length > 1;
  const top = legend ? TOP + 30 : TOP;
  const bottom = chart.left > 0 ? BOTTOM - 24 : BOTTOM;
  const height = Math.min(104, (bottom - top) / chart.rows.length);
  const most = Math.max(...chart.rows.flatMap(({ bars }) => bars.map(({ value }) => value ?? 0)), 1e-9);
  const parts = [
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${look.paper}"/>`,
    `<rect width="${WIDTH}" height="6" fill="${look.series[0]}"/>`,
    line(84, chart.title, [38, 26], { fill: look.ink, face: look.serif, bold: true }),
    line(122, chart.subtitle, [21, 15], { fill: look.soft, face: look.sans }),
    text(WIDTH - EDGE, legend ? TOP : TOP - 12, 'GFLOP/s', {
      size: 16,
      fill: look.faint,
      face: look.sans,
      end: true,
    }),
    ...(legend ? [legendOf(chart, look)] : []),
    ...chart.rows.map((row, index) => rowOf(row, top + index * height, height, most, chart, look)),
    ...(chart.left > 0
      ? [text(EDGE, BOTTOM, `and ${chart.left} more`, { size: 16, fill: look.faint, face: look.sans })]
      : []),
    `<path d="M${EDGE} ${HEIGHT - 62}H${WIDTH - EDGE}" stroke="${look.line}"/>`,
    line(HEIGHT - 30, chart.foot, [17, 14], { fill: look.soft, face: look.sans }, 900),
    mark(look),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(chart.title)}">${parts.join('')}</svg>`;
}

function rowOf(row: ChartRow, y: number, height: number, most: number, chart: Chart, look: Look): string {
  const long = chart.rows.some(({ label }) => label.length > 22);
  const labels = long ? LABELS.long : LABELS.short;
  const gap = Math.max(height * 0.18, height - THICKEST * chart.series.length);
  const thick = (height - gap) / chart.series.length;
  const size = sizeOf(chart, thick, labels);
  const words = chart.rows.flatMap(({ bars }) =>
    bars.filter(({ value }) => value !== null).map(it => it.text.length),
  );
  // The longest text may stand behind the longest bar.
  const behind = Math.max(BEHIND, Math.max(0, ...words) * size * 0.56 + 16);
  const room = WIDTH - 2 * EDGE - labels - behind;
  const x = EDGE + labels;
  const bars = row.bars.map(({ series, value, text: words }, index) => {
    const top = y + gap / 2 + index * thick;
    const middle = top + thick / 2 + size * 0.36;
    if (value === null) {
      return text(x, middle, shortened(words, size, WIDTH - EDGE - x), {
        size,
        fill: look.faint,
        face: look.sans,
      });
    }
    const width = Math.max(3, (value / most) * room);
    const bar = `<rect x="${x}" y="${round(top + 1)}" width="${round(width)}" height="${round(thick - 2)}" rx="2" fill="${look.series[series % look.series.length]}"/>`;
    return bar + text(x + width + 10, middle, words, { size, fill: look.ink, face: look.sans });
  });
  const label = shortened(row.label, size, labels - 16);
  const middle = y + height / 2 + size * 0.36;
  return (
    text(EDGE, middle, label, { size, fill: look.ink, face: look.sans, bold: row.strong }) + bars.join('')
  );
}

/** Of a row's text: no higher than its bars, and smaller where the longest label needs it, while it can be read. */
function sizeOf({ rows }: Chart, thick: number, labels: number): number {
  const longest = Math.max(...rows.map(({ label }) => widthOf(label, 1)));
  const fitting = Math.max(15, (labels - 16) / longest);
  return Math.max(12, Math.min(22, thick * 0.85, fitting));
}

function legendOf({ series }: Chart, look: Look): string {
  let x = EDGE;
  return series
    .map((name, index) => {
      const shown = shortened(name, 17, 420);
      const item = `<rect x="${x}" y="${TOP - 14}" width="15" height="15" rx="2" fill="${look.series[index]}"/>${text(x + 24, TOP, shown, { size: 17, fill: look.ink, face: look.sans })}`;
      x += 24 + widthOf(shown, 17, 0.62) + 22;
      return item;
    })
    .join('');
}

/** The page's own mark and name, at the lower right. */
const mark = ({ series, ink, serif }: Look) =>
  `<path transform="translate(${WIDTH - EDGE - 152} ${HEIGHT - 50}) scale(1.35)" d="M1 11h4v4H1zM6 6h4v9H6zM11 1h4v14h-4z" fill="${series[0]}"/>${text(WIDTH - EDGE - 124, HEIGHT - 30, 'webgemm', { size: 22, fill: ink, face: serif, bold: true })}`;

/** A line of text that is made smaller, down to the second size, before it is cut. */
function line(
  y: number,
  content: string,
  [usual, least]: readonly [number, number],
  look: Omit<TextLook, 'size'>,
  room = WIDTH - 2 * EDGE,
): string {
  const wide = look.bold ? TITLE : undefined;
  const size = Math.max(least, Math.min(usual, room / widthOf(content, 1, wide)));
  return text(EDGE, y, shortened(content, size, room, wide), { ...look, size });
}

interface TextLook {
  readonly size: number;
  readonly fill: string;
  readonly face: string;
  readonly bold?: boolean;
  readonly end?: boolean;
}

function text(x: number, y: number, content: string, { size, fill, face, bold, end }: TextLook): string {
  const weight = bold ? ' font-weight="600"' : '';
  const anchor = end ? ' text-anchor="end"' : '';
  return `<text x="${round(x)}" y="${round(y)}" font-family="${escaped(face)}" font-size="${round(size)}" fill="${fill}"${weight}${anchor} xml:space="preserve">${escaped(content)}</text>`;
}

/** Roughly and rather too wide, for faces that are not known before they are drawn. */
const widthOf = (content: string, size: number, wide = 0.55) => content.length * size * wide;

/** Of a title: bold, and with serifs. */
const TITLE = 0.68;

/** As much of a text as has room, with an ellipsis where that is not all. */
function shortened(content: string, size: number, room: number, wide?: number): string {
  const over = widthOf(content, size, wide) / room;
  return over <= 1 ? content : `${content.slice(0, Math.floor(content.length / over) - 1).trimEnd()}…`;
}

const round = (value: number) => Number(value.toFixed(1));

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (content: string) => content.replace(/[&<>"]/g, character => ENTITIES[character]);
