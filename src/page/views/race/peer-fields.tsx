/** Which libraries to race against, and what each of them downloads. */
import { Checkbox } from '../../components/field.tsx';
import { Notice } from '../../components/notice.tsx';
import { Prose } from '../../components/prose.tsx';
import type { PeerName } from '../../gpu/jobs/race.ts';
import { titleOf } from '../../share/peers.ts';
import { change, chosen, PEERS, sizes } from './state.ts';

export function PeerFields({ disabled }: { readonly disabled: boolean }) {
  const known = sizes.value;
  const there = (name: PeerName) => known !== null && name in known;
  const missing = PEERS.filter(name => known && !there(name));
  const toggle = (name: PeerName, on: boolean) =>
    change({ chosen: PEERS.filter(other => (other === name ? on : chosen.value.includes(other))) });
  return (
    <>
      <fieldset class="race-peers">
        <legend class="field-label">Against</legend>
        {PEERS.map(name => (
          <Checkbox
            key={name}
            label={
              <>
                {titleOf(name)} <span class="muted figure">{sizeWords(name)}</span>
              </>
            }
            checked={chosen.value.includes(name) && (known === null || there(name))}
            disabled={disabled || !there(name)}
            onChange={on => toggle(name, on)}
          />
        ))}
        <p class="small muted race-hint">
          Each is downloaded from this site when a race with it starts, and not before.
        </p>
      </fieldset>
      {missing.length > 0 && (
        <Notice title={`This build of the page has no ${missing.map(titleOf).join(', no ')}.`}>
          <p class="small">
            <Prose text="To have them, run `npm ci --prefix bench --ignore-scripts` in a checkout of webgemm, then `npm run page:build`, and `npm run page:preview` to open it." />
          </p>
        </Notice>
      )}
    </>
  );
}

function sizeWords(name: PeerName): string {
  const known = sizes.value;
  if (!known) return '';
  if (!(name in known)) return 'not in this build';
  const size = known[name];
  if (size == null) return '';
  return size < 1e6 ? `${Math.round(size / 1000)} kB` : `${(size / 1e6).toFixed(1)} MB`;
}
