import type { ComponentChildren } from 'preact';
import { GemmError } from '../../errors.ts';
import { Prose } from './prose.tsx';

interface NoticeProps {
  readonly tone?: 'info' | 'good' | 'warn' | 'bad';
  readonly title?: string;
  readonly children?: ComponentChildren;
}

/** Something the reader should know. A bad one is read out at once. */
export function Notice({ tone = 'info', title, children }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : 'note'}>
      {title && (
        <p class="notice-title">
          <Prose text={title} />
        </p>
      )}
      {children}
    </div>
  );
}

/** What went wrong, and what to do about it. */
export function ErrorNotice({ error }: { readonly error: unknown }) {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return (
    <Notice tone="bad" title={message}>
      {error instanceof GemmError && error.hint && (
        <p>
          <Prose text={error.hint} />
        </p>
      )}
    </Notice>
  );
}
