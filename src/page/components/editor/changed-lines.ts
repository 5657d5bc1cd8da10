/** Marks lines beside their numbers: changed ones with a bar, places where lines are missing with a wedge. */
import {
  type Extension,
  RangeSet,
  RangeSetBuilder,
  StateEffect,
  StateField,
  type Text,
} from '@codemirror/state';
import { GutterMarker, gutter } from '@codemirror/view';

/** Lines from 1. */
export interface LineMarks {
  readonly changed: readonly number[];
  readonly removedBefore: readonly number[];
}

export const setLineMarks = StateEffect.define<LineMarks>();

class Mark extends GutterMarker {
  override readonly elementClass: string;

  constructor(elementClass: string) {
    super();
    this.elementClass = elementClass;
  }
}

const CHANGED = new Mark('cm-line-changed');
const REMOVED = new Mark('cm-lines-removed');

const marks = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(value, { changes, effects, state }) {
    const set = effects.findLast(effect => effect.is(setLineMarks));
    return set ? rangesOf(set.value, state.doc) : value.map(changes);
  },
});

export const changedLines = (): Extension => [
  marks,
  gutter({ class: 'cm-changes', markers: view => view.state.field(marks) }),
];

function rangesOf({ changed, removedBefore }: LineMarks, doc: Text): RangeSet<GutterMarker> {
  const all = [
    ...changed.map(line => ({ line, mark: CHANGED })),
    // What is missing at the end is missed after the last line.
    ...removedBefore.map(line => ({ line: Math.min(line, doc.lines), mark: REMOVED })),
  ].sort((x, y) => x.line - y.line);
  const builder = new RangeSetBuilder<GutterMarker>();
  for (const { line, mark } of all) {
    if (line > doc.lines) continue;
    const { from } = doc.line(line);
    builder.add(from, from, mark);
  }
  return builder.finish();
}
