import type { ComponentChildren } from 'preact';

/** Names and what they are. */
export function Facts({ items }: { readonly items: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {items.map(([name, value]) => (
        <>
          <dt key={`${name}-name`}>{name}</dt>
          <dd key={name}>{value}</dd>
        </>
      ))}
    </dl>
  );
}
