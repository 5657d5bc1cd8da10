/** Which rungs' rows are open: the address says it, so that a link leads to them. */
import { computed } from '@preact/signals';
import { RUNGS } from '../../../ladder/rungs.ts';
import { replaceParams, route } from '../../state/route.ts';

/** Rungs that are open, such as '4' and '8s', in the address's order; a rung's id is as good there. */
export const opened = computed((): readonly string[] => {
  const names = (route.value.params.get('rung') ?? '').split(',');
  return names.flatMap(
    name => RUNGS.find(({ rung, id }) => rung === name.trim() || id === name.trim())?.rung ?? [],
  );
});

export function toggle(rung: string): void {
  const { rung: _, ...others } = Object.fromEntries(route.value.params);
  const open = opened.value.includes(rung)
    ? opened.value.filter(other => other !== rung)
    : [...opened.value, rung];
  replaceParams({ ...(open.length > 0 ? { rung: open.join(',') } : {}), ...others });
}
