import type { ComponentChildren } from 'preact';

interface ViewProps {
  readonly title: string;
  /** What there is to do or see here, in a sentence or two. */
  readonly lead: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** What every view is in: its heading, what it is for, and its sections below each other. */
export function View({ title, lead, children }: ViewProps) {
  return (
    <div class="view">
      <header class="view-head">
        <h1>{title}</h1>
        <p class="lead">{lead}</p>
      </header>
      {children}
    </div>
  );
}
