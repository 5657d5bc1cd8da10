/** The colours of threads, and of how often a cell was read. Each has 3:1 on the sheet in both themes. */

/** From teal over violet to orange: neighbours in a subgroup have neighbouring colours. */
export function laneColour(lane: number, lanes: number): string {
  const share = lanes > 1 ? lane / (lanes - 1) : 0;
  const hue = Math.round(195 + 220 * share) % 360;
  return `light-dark(oklch(0.56 0.13 ${hue}), oklch(0.76 0.12 ${hue}))`;
}

/** Levels of how often a cell was read, from few to many. */
export const TIMES = [
  { from: 1, to: 1, mix: 35 },
  { from: 2, to: 4, mix: 50 },
  { from: 5, to: 15, mix: 65 },
  { from: 16, to: 31, mix: 82 },
  { from: 32, to: Number.POSITIVE_INFINITY, mix: 100 },
].map(({ from, to, mix }) => ({
  ...{ from, to },
  label:
    to === from
      ? `once`
      : to === Number.POSITIVE_INFINITY
        ? `${from} times and more`
        : `${from} to ${to} times`,
  colour: `color-mix(in oklab, var(--bad) ${mix}%, var(--sheet))`,
}));
