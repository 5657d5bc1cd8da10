/** CodeMirror set up for WGSL. Large: import it dynamically. */

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  type KeyBinding,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { wgsl } from '@iizukak/codemirror-lang-wgsl';
import { classHighlighter } from '@lezer/highlight';
import { changedLines, type LineMarks, setLineMarks } from './changed-lines.ts';
import { theme } from './theme.ts';

/** Something to say about a place in the text. */
export interface Remark {
  readonly severity: 'error' | 'warning' | 'info';
  readonly text: string;
  /** UTF-16 units from the beginning of the text. */
  readonly from: number;
  readonly to: number;
}

export interface Handle {
  /** Replaces the text where it is another one; can be undone. */
  setText(text: string): void;
  setMarks(marks: LineMarks): void;
  setRemarks(remarks: readonly Remark[]): void;
  /** Puts the cursor there and the focus into the editor. */
  goTo(offset: number): void;
  destroy(): void;
}

interface Settings {
  readonly label: string;
  /** Id of what says how to use it. */
  readonly describedBy: string;
  readonly text: string;
  readonly onInput: (text: string) => void;
  /** Called for Ctrl or ⌘ with Enter. */
  readonly onRun: () => void;
}

export function createEditor(
  parent: HTMLElement,
  { label, describedBy, text, onInput, onRun }: Settings,
): Handle {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        [lintGutter(), lineNumbers(), changedLines(), highlightActiveLineGutter(), highlightActiveLine()],
        [history(), search({ top: true }), highlightSelectionMatches()],
        [wgsl(), syntaxHighlighting(classHighlighter), bracketMatching(), indentOnInput()],
        [indentUnit.of('  '), EditorState.tabSize.of(2)],
        keymap.of([
          runBy(onRun),
          ...searchKeymap,
          ...historyKeymap,
          ...lintKeymap,
          indentWithTab,
          ...defaultKeymap,
        ]),
        leaveByEscape(),
        theme,
        EditorView.contentAttributes.of({
          ...{ 'aria-label': label, 'aria-describedby': describedBy, tabindex: '0' },
          ...{ spellcheck: 'false', autocapitalize: 'off', autocorrect: 'off', translate: 'no' },
        }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) onInput(state.doc.toString());
        }),
      ],
    }),
  });
  const inside = (offset: number) => Math.min(offset, view.state.doc.length);
  return {
    setText(next) {
      const { doc } = view.state;
      if (doc.toString() !== next) view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    setMarks(marks) {
      view.dispatch({ effects: setLineMarks.of(marks) });
    },
    setRemarks(remarks) {
      const diagnostics = remarks.map(
        ({ severity, text: message, from, to }): Diagnostic => ({
          ...{ severity, message },
          ...{ from: inside(from), to: inside(Math.max(from, to)) },
        }),
      );
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    goTo(offset) {
      const anchor = inside(offset);
      view.dispatch({
        selection: { anchor },
        effects: EditorView.scrollIntoView(anchor, { x: 'center', y: 'center' }),
      });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

const runBy = (onRun: () => void): KeyBinding => ({
  key: 'Mod-Enter',
  run: () => {
    onRun();
    return true;
  },
});

/** Tab indents; after Escape it moves on, until something is typed or the editor is entered again. */
const leaveByEscape = () => [
  EditorView.domEventHandlers({
    keydown(event, view) {
      if (event.key === 'Escape') view.setTabFocusMode(true);
      return false;
    },
    focus(_, view) {
      view.setTabFocusMode(false);
      return false;
    },
  }),
  EditorView.updateListener.of(({ docChanged, view }) => {
    if (docChanged) view.setTabFocusMode(false);
  }),
];
