import type { ComponentChildren } from 'preact';

interface DetailsProps {
  readonly summary: ComponentChildren;
  readonly open?: boolean;
  readonly onToggle?: (open: boolean) => void;
  readonly children: ComponentChildren;
}

/** Something that opens in place. */
export function Details({ summary, open = false, onToggle, children }: DetailsProps) {
  return (
    <details class="details" open={open} onToggle={event => onToggle?.(event.currentTarget.open)}>
      <summary>{summary}</summary>
      <div>{children}</div>
    </details>
  );
}
