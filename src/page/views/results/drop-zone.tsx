/** Opens files: chosen, or dropped anywhere on the page while the list is shown. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ErrorNotice, Notice } from '../../components/notice.tsx';
import { exportRecords, notKept, results } from '../../state/results.ts';
import { importAll, imported, removed, undo } from './state.ts';

export function DropZone() {
  const input = useRef<HTMLInputElement>(null);
  const over = useDrop(importAll);
  const all = results.value;
  return (
    <section class={`section sheet drop-zone${over ? ' drop-zone-over' : ''}`} aria-label="Files">
      <div class="row">
        <Button variant="primary" onClick={() => input.current?.click()}>
          Open files …
        </Button>
        <Button disabled={all.length === 0} onClick={() => exportRecords(all.map(({ record }) => record))}>
          Export all
        </Button>
        <span class="small muted drop-hint">
          {over ? 'Let go to open them' : 'or drop them anywhere here'}
        </span>
        <input
          ref={input}
          class="visually-hidden"
          type="file"
          accept=".json,application/json"
          multiple
          tabIndex={-1}
          aria-label="Files with results"
          onChange={async ({ currentTarget }) => {
            await importAll(currentTarget.files ?? []);
            currentTarget.value = ''; // so that the same file can be chosen again
          }}
        />
      </div>
      <Said />
    </section>
  );
}

/** What came of the last import or removal. */
function Said() {
  const { count, errors } = imported.value ?? { count: 0, errors: [] };
  const gone = removed.value.length;
  return (
    <>
      <div role="status" class="said">
        {count > 0 && (
          <p class="small">{count === 1 ? 'One result is' : `${count} results are`} open below.</p>
        )}
        {gone > 0 && (
          <p class="small row">
            {gone === 1 ? 'One result was removed.' : `${gone} results were removed.`}
            <Button variant="quiet" onClick={undo}>
              Undo
            </Button>
          </p>
        )}
      </div>
      {errors.map((error, index) => (
        <ErrorNotice key={index} error={error} />
      ))}
      {notKept.value && <Notice tone="warn" title={notKept.value} />}
    </>
  );
}

/** @returns whether files are being held over the page */
function useDrop(onFiles: (files: Iterable<File>) => void): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const hold = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    addEventListener('dragover', hold, { signal });
    // Out of the window, and not only from one element to the next.
    addEventListener('dragleave', event => event.relatedTarget === null && setOver(false), { signal });
    addEventListener(
      'drop',
      event => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        setOver(false);
        onFiles(event.dataTransfer?.files ?? []);
      },
      { signal },
    );
    return () => listening.abort();
  }, [onFiles]);
  return over;
}
