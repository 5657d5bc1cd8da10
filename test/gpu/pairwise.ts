/** Few combinations of many factors, in which every pair of values of two factors occurs. */
export type Factors = Readonly<Record<string, readonly unknown[]>>;
export type Row<F extends Factors> = { readonly [K in keyof F]: F[K][number] };

/** A covering set, made greedily: each row takes, factor by factor, the value that covers most pairs still missing. */
export function pairwise<const F extends Factors>(factors: F): Row<F>[] {
  const names = Object.keys(factors);
  const pairKey = (x: string, i: number, y: string, j: number) =>
    x < y ? `${x}${i},${y}${j}` : `${y}${j},${x}${i}`;
  const missing = new Set<string>();
  for (const [index, x] of names.entries())
    for (const y of names.slice(index + 1))
      for (const i of factors[x].keys()) for (const j of factors[y].keys()) missing.add(pairKey(x, i, y, j));

  const rows: Row<F>[] = [];
  while (missing.size > 0) {
    // The first missing pair fixes two factors, so that every row makes progress.
    const chosen = new Map<string, number>();
    const [first] = missing;
    for (const part of first.split(',')) {
      const [, name, value] = /^(\D+)(\d+)$/.exec(part)!;
      chosen.set(name, Number(value));
    }
    for (const name of names) {
      if (chosen.has(name)) continue;
      const gain = (value: number) =>
        [...chosen].filter(([other, index]) => missing.has(pairKey(name, value, other, index))).length;
      const values = [...factors[name].keys()];
      chosen.set(
        name,
        values.reduce((best, value) => (gain(value) > gain(best) ? value : best)),
      );
    }
    for (const [x, i] of chosen)
      for (const [y, j] of chosen) if (x !== y) missing.delete(pairKey(x, i, y, j));
    rows.push(Object.fromEntries(names.map(name => [name, factors[name][chosen.get(name)!]])) as Row<F>);
  }
  return rows;
}
