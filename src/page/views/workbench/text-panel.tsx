/** The WGSL of a pass, to be edited; how it is dispatched; back to the original, copy, share. */
import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Pass } from '../../../program.ts';
import { Button } from '../../components/button.tsx';
import { Details } from '../../components/details.tsx';
import type { LineMarks } from '../../components/editor/changed-lines.ts';
import type { Remark } from '../../components/editor/codemirror.ts';
import { Editor } from '../../components/editor/editor.tsx';
import { Facts } from '../../components/facts.tsx';
import { Field, NumberField, SelectField } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import type { Grid } from './bench.ts';
import { changesOf } from './diff.ts';
import { outcome, run } from './running.ts';
import { copied, copyLink, copyText, link } from './sharing.ts';
import {
  bench,
  current,
  cursor,
  editGrid,
  editText,
  restore,
  show,
  shown,
  wrongWorkgroups,
} from './state.ts';

const marks = computed<LineMarks>(() => {
  const now = current.value;
  return now ? changesOf(now.original.wgsl, now.text) : { changed: [], removedBefore: [] };
});

export function TextPanel() {
  const [now, program] = [current.value, shown.value];
  if (!now || !program) return null;
  const { index, original, text, stale } = now;
  const touched = bench.value.edits[index] !== undefined || bench.value.grids[index] !== undefined;
  return (
    <section class="section workbench-text" aria-label="WGSL">
      <div class="workbench-head">
        <h2>WGSL</h2>
        {program.passes.length > 1 && (
          <SelectField
            label="Pass"
            value={String(index)}
            options={program.passes.map(({ label }, pass) => ({
              value: String(pass),
              label: `${pass + 1} of ${program.passes.length}: ${label}${bench.value.edits[pass] ? ' (edited)' : ''}`,
            }))}
            onChange={pass => show(Number(pass))}
          />
        )}
        <p class="small muted" aria-live="polite">
          {describe(marks.value)}
        </p>
      </div>
      {stale && (
        <Notice tone="warn" title="Your text was made from another original">
          <p>
            The size or the parameters are written into the text, and where they are, you changed it as well.
            It is kept as it was.
          </p>
        </Notice>
      )}
      <Editor
        key={`${bench.value.source} ${index}`}
        label={`WGSL of ${original.label}`}
        text={text}
        marks={marks.value}
        remarks={useRemarks(index, text)}
        goTo={cursor.value}
        onRun={run}
        onInput={typed => editText(index, typed)}
      />
      <div class="row">
        <Button disabled={!touched} onClick={() => restore(index)}>
          Back to the original
        </Button>
        <Button onClick={() => copyText(text)}>Copy</Button>
        <Button onClick={copyLink}>Share by link</Button>
        <span class="small muted" aria-live="polite">
          {copied.value}
        </span>
      </div>
      {link.value !== null && (
        <Field
          label="Link"
          hint="It holds the text, the parameters and the size. Whoever opens it sees them; nothing runs by itself."
          control={props => (
            <input
              {...props}
              class="input workbench-link"
              readOnly
              value={link.value ?? ''}
              onFocus={event => event.currentTarget.select()}
            />
          )}
        />
      )}
      <Dispatch index={index} pass={original} />
    </section>
  );
}

function describe({ changed, removedBefore }: LineMarks): string {
  const parts = [
    changed.length > 0 && `${lines(changed.length)} changed`,
    removedBefore.length > 0 &&
      `lines taken out in ${removedBefore.length === 1 ? '1 place' : `${removedBefore.length} places`}`,
  ].filter(Boolean);
  return parts.length > 0 ? `${parts.join(', ')}; marked beside the line numbers` : 'as in the original';
}

const lines = (count: number) => (count === 1 ? '1 line' : `${count} lines`);

/** What the compiler said of this text; while it is edited on, the editor moves the marks along. */
function useRemarks(index: number, text: string): readonly Remark[] {
  const ran = outcome.value;
  // The text of the moment when the run ended or this editor was made counts, so it is no dependency.
  return useMemo(() => {
    if (!ran || ran.of.source !== bench.value.source || ran.of.edits[index]?.text !== text) return [];
    return ran.output.messages
      .filter(({ pass, line }) => pass === index && line > 0)
      .map(({ type, text: said, offset, length }) => ({
        ...{ severity: type, text: said },
        ...{ from: offset, to: offset + length },
      }));
  }, [ran, index]);
}

function Dispatch({ index, pass }: { readonly index: number; readonly pass: Pass }) {
  const [x, y, z] = pass.workgroups;
  const grid: Grid = bench.value.grids[index] ?? [String(x), String(y), String(z)];
  const names = ['x', 'y', 'z'];
  const open = bench.value.grids[index] !== undefined;
  return (
    <Details summary="Workgroups and bindings" open={open}>
      <p class="small muted">
        A kernel with tiles of another size needs another number of workgroups. The original is dispatched
        with {x}×{y}×{z}.
      </p>
      <div class="row-fields">
        {names.map((name, axis) => (
          <NumberField
            key={name}
            label={`Workgroups in ${name}`}
            value={grid[axis]}
            error={wrongWorkgroups(grid[axis]) ?? undefined}
            onInput={typed => {
              const [nx, ny, nz] = grid.map((old, place) => (place === axis ? typed : old));
              editGrid(index, [nx, ny, nz]);
            }}
          />
        ))}
      </div>
      <Facts
        items={pass.bindings.map(({ buffer, access }, binding) => [
          `@binding(${binding})`,
          `${buffer}: ${{ uniform: 'uniform', read: 'storage, read', read_write: 'storage, read_write' }[access]}`,
        ])}
      />
    </Details>
  );
}
