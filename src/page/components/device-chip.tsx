/** The GPU in the header: which one, and whether it works; opens what is known of it. */
import { useState } from 'preact/hooks';
import { describeProfile } from '../../profile.ts';
import { type DeviceState, device } from '../state/device.ts';
import { DevicePanel } from './device-panel.tsx';
import { Dialog } from './dialog.tsx';

export function DeviceChip() {
  const [open, setOpen] = useState(false);
  const { text, tone } = summaryOf(device.value);
  return (
    <>
      <button type="button" class="device-chip chip" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <span class={`dot dot-${tone}`} aria-hidden="true" />
        <span class="chip-text" aria-live="polite">
          <span class="visually-hidden">GPU: </span>
          {text}
        </span>
      </button>
      <Dialog title="Your GPU" open={open} onClose={() => setOpen(false)}>
        <DevicePanel />
      </Dialog>
    </>
  );
}

function summaryOf(state: DeviceState): { text: string; tone: string } {
  switch (state.status) {
    case 'opening':
      return { text: 'Looking for a GPU …', tone: 'none' };
    case 'missing':
      return { text: 'No WebGPU', tone: 'bad' };
    case 'failed':
      return { text: 'GPU failed', tone: 'bad' };
    case 'lost':
      return { text: 'GPU lost', tone: 'bad' };
    case 'ready': {
      const { profile } = state.info;
      const name = shortName(describeProfile(profile), profile.vendor);
      return profile.software ? { text: `${name} (software)`, tone: 'warn' } : { text: name, tone: 'good' };
    }
  }
}

/** Browsers tell an architecture such as `metal-3`, and no device: then the vendor is needed to make sense of it. */
const shortName = (name: string, vendor: string) =>
  name.toLowerCase().includes(vendor.toLowerCase()) || /swiftshader/i.test(name) ? name : `${vendor} ${name}`;
