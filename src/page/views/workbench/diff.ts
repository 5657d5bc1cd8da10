/** What two texts have in common, line by line; pure. */

/** Lines `from` up to `to` of the first text are `lines` in the second, where they begin at `at`; all from 0. */
export interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly lines: readonly string[];
}

/** Cells of the table that is searched for the longest common part; beyond, the middle counts as changed whole. */
const LARGEST = 2 ** 22;

export function diff(before: readonly string[], after: readonly string[]): Hunk[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let [end, endAfter] = [before.length, after.length];
  while (end > start && endAfter > start && before[end - 1] === after[endAfter - 1])
    [end, endAfter] = [end - 1, endAfter - 1];
  const [rows, cols] = [end - start, endAfter - start];
  if (rows === 0 && cols === 0) return [];
  if (rows * cols > LARGEST)
    return [{ from: start, to: end, at: start, lines: after.slice(start, endAfter) }];

  // common[i][j]: lines that the parts from i and from j on have in common at most.
  const width = cols + 1;
  const common = new Uint16Array((rows + 1) * width);
  const same = (i: number, j: number) => before[start + i] === after[start + j];
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = cols - 1; j >= 0; j--) {
      common[i * width + j] = same(i, j)
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const hunks: Hunk[] = [];
  let [i, j] = [0, 0];
  while (i < rows || j < cols) {
    const [fromI, fromJ] = [i, j];
    while ((i < rows || j < cols) && !(i < rows && j < cols && same(i, j))) {
      if (j === cols || (i < rows && common[(i + 1) * width + j] >= common[i * width + j + 1])) i++;
      else j++;
    }
    if (i > fromI || j > fromJ) {
      hunks.push({
        from: start + fromI,
        to: start + i,
        at: start + fromJ,
        lines: after.slice(start + fromJ, start + j),
      });
    }
    while (i < rows && j < cols && same(i, j)) [i, j] = [i + 1, j + 1];
  }
  return hunks;
}

export interface Changes {
  /** Lines of the second text that are not in the first, from 1. */
  readonly changed: readonly number[];
  /** Lines of the second text before which lines of the first are missing, from 1. */
  readonly removedBefore: readonly number[];
}

export function changesOf(before: string, after: string): Changes {
  const hunks = diff(before.split('\n'), after.split('\n'));
  return {
    changed: hunks.flatMap(({ at, lines }) => lines.map((_, index) => at + index + 1)),
    removedBefore: hunks.filter(({ lines }) => lines.length === 0).map(({ at }) => at + 1),
  };
}

/** `mine`, which was made from `base`, made from `theirs` instead; null where both changed the same lines. */
export function rebase(base: string, mine: string, theirs: string): string | null {
  const lines = base.split('\n');
  const ours = diff(lines, mine.split('\n'));
  const other = diff(lines, theirs.split('\n'));
  if (ours.some(x => other.some(y => overlap(x, y) && !equal(x, y)))) return null;
  const all = [...ours, ...other.filter(y => !ours.some(x => equal(x, y)))];
  const result: string[] = [];
  let done = 0;
  for (const { from, to, lines: replacement } of all.sort((x, y) => x.from - y.from || x.to - y.to)) {
    result.push(...lines.slice(done, from), ...replacement);
    done = to;
  }
  return [...result, ...lines.slice(done)].join('\n');
}

const overlap = (x: Hunk, y: Hunk) => x.from === y.from || (x.from < y.to && y.from < x.to);
const equal = (x: Hunk, y: Hunk) =>
  x.from === y.from && x.to === y.to && x.lines.join('\n') === y.lines.join('\n');
