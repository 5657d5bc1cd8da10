/** Draws a map of cells; kinds differ in lightness and pattern, not in colour alone. */
import { type CellMap, KINDS } from './cells.ts';

/** Pixels of the picture along its longer side, about. */
const SIDE = 512;

const idOf = (kind: number) => KINDS[kind].id;

/** @param swatches an element for each kind, whose background and text colours are taken */
export function draw(
  canvas: HTMLCanvasElement,
  { n, rows, kinds }: CellMap,
  swatches: readonly HTMLElement[],
): void {
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) return;
  const m = rows.length;
  // A cell has several pixels, or a pixel several cells, of which the worst one is shown.
  const scale = Math.max(m, n) > SIDE ? SIDE / Math.max(m, n) : Math.floor(SIDE / Math.max(m, n));
  canvas.width = 1;
  canvas.height = 1;
  const colours = swatches.map(swatch => {
    const { backgroundColor, color } = getComputedStyle(swatch);
    return { paper: rgba(context, backgroundColor), ink: rgba(context, color) };
  });
  canvas.width = Math.max(1, Math.round(n * scale));
  canvas.height = Math.max(1, Math.round(m * scale));
  const image = context.createImageData(canvas.width, canvas.height);
  for (let y = 0; y < canvas.height; y++) {
    const [top, bottom] = span(y, canvas.height, m);
    for (let x = 0; x < canvas.width; x++) {
      const [left, right] = span(x, canvas.width, n);
      let kind = 0;
      for (let row = top; row < bottom; row++) {
        for (let col = left; col < right; col++) kind = Math.max(kind, kinds[row * n + col]);
      }
      const { paper, ink } = colours[kind];
      image.data.set(inked(idOf(kind), x, y) ? ink : paper, (y * canvas.width + x) * 4);
    }
  }
  context.putImageData(image, 0, 0);
}

/** The cells that a pixel stands for. */
function span(pixel: number, pixels: number, cells: number): [number, number] {
  const from = Math.floor((pixel * cells) / pixels);
  return [from, Math.max(from + 1, Math.floor(((pixel + 1) * cells) / pixels))];
}

function inked(id: (typeof KINDS)[number]['id'], x: number, y: number): boolean {
  if (id === 'unwritten') return (x + y) % 6 < 2;
  if (id === 'nan') return x % 4 < 2 && y % 4 < 2;
  return false;
}

function rgba(context: CanvasRenderingContext2D, colour: string): Uint8ClampedArray {
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data;
}
