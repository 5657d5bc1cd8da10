import type { Phase } from '../../../ladder/climb.ts';

/** What is done with a rung, in this order. */
export const PHASES: readonly Phase[] = ['compiling', 'verifying', 'warming up', 'measuring'];

/** What is being done with a rung, and how many steps are left. */
export function Working({ phase }: { readonly phase: Phase }) {
  const at = PHASES.indexOf(phase);
  return (
    <span class="ladder-working">
      <span class="ladder-steps" aria-hidden="true">
        {PHASES.map((name, index) => (
          <i key={name} class={index < at ? 'past' : index === at ? 'now' : undefined} />
        ))}
      </span>
      {phase} …
    </span>
  );
}
