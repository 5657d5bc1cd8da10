/** A text of WGSL to be edited: CodeMirror as soon as it is there, and until then, or without it, a plain text area. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LineMarks } from './changed-lines.ts';
import type { Handle, Remark } from './codemirror.ts';

interface EditorProps {
  /** What is edited, for screen readers. */
  readonly label: string;
  readonly text: string;
  readonly onInput: (text: string) => void;
  readonly onRun: () => void;
  readonly marks: LineMarks;
  readonly remarks: readonly Remark[];
  /** Where the cursor is to go; a new object each time. */
  readonly goTo: { readonly offset: number } | null;
}

/** Give it a new key for another text, so that undoing does not lead back into the one before. */
export function Editor({ label, text, onInput, onRun, marks, remarks, goTo }: EditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const [handle, setHandle] = useState<Handle | null>(null);
  const hint = useId();
  const latest = useRef({ text, onInput, onRun });
  latest.current = { text, onInput, onRun };

  useEffect(() => {
    let made: Handle | undefined;
    let here = true;
    import('./codemirror.ts').then(
      ({ createEditor }) => {
        if (!here || !box.current) return;
        made = createEditor(box.current, {
          ...{ label, describedBy: hint, text: latest.current.text },
          onInput: typed => latest.current.onInput(typed),
          onRun: () => latest.current.onRun(),
        });
        setHandle(made);
      },
      () => {}, // the text area stays
    );
    return () => {
      here = false;
      made?.destroy();
    };
  }, [label, hint]);

  // At once: what is typed before the next frame would be overwritten with the text that was due in this one, and be
  // reported as typed, and so on without an end.
  useLayoutEffect(() => handle?.setText(text), [handle, text]);
  useEffect(() => handle?.setMarks(marks), [handle, marks]);
  useEffect(() => handle?.setRemarks(remarks), [handle, remarks]);
  useEffect(() => {
    if (goTo) handle?.goTo(goTo.offset);
  }, [handle, goTo]);

  return (
    <div class="editor">
      <div ref={box} />
      {handle === null && (
        <textarea
          class="editor-plain"
          aria-label={label}
          spellcheck={false}
          value={text}
          onInput={event => onInput(event.currentTarget.value)}
        />
      )}
      <p class="small muted" id={hint}>
        Tab indents; <kbd>Escape</kbd>, then <kbd>Tab</kbd> leaves the editor. <kbd>Ctrl</kbd> or <kbd>⌘</kbd>{' '}
        with <kbd>F</kbd> searches, with <kbd>Enter</kbd> runs.
      </p>
    </div>
  );
}
