/** What the compiler said, each with its place; a click leads there. */
import type { CompilerMessage } from '../../gpu/jobs/workbench.ts';
import type { Bench } from './bench.ts';
import { show, shown } from './state.ts';

interface MessagesProps {
  readonly messages: readonly CompilerMessage[];
  /** What was compiled. */
  readonly of: Bench;
}

export function Messages({ messages, of }: MessagesProps) {
  if (messages.length === 0) return null;
  return (
    <ul class="workbench-messages">
      {messages.map((message, index) => (
        <li key={index}>
          <Place {...message} of={of} /> {message.type}: {message.text}
        </li>
      ))}
    </ul>
  );
}

function Place({ pass, line, column, offset, of }: CompilerMessage & { readonly of: Bench }) {
  const passes = shown.value?.passes ?? [];
  const where = `${passes.length > 1 ? `${passes[pass]?.label}, ` : ''}line ${line}, column ${column}`;
  if (line === 0) return null;
  const source = of.edits[pass]?.text.split('\n')[line - 1]?.trim();
  return (
    <>
      <button type="button" class="link" onClick={() => show(pass, offset)}>
        {where}
      </button>
      {source && <code class="workbench-line">{source}</code>}
    </>
  );
}
