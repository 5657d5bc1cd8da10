/** How numbers and names are written for people, by the command and by the page. An unknown number is a dash. */
import { describeProfile, type Profile } from './profile.ts';

export const UNKNOWN = '–';

type Maybe = number | null;

const write = (value: Maybe, text: (value: number) => string) => (value === null ? UNKNOWN : text(value));

export const gflops = (value: Maybe): string =>
  write(value, v => (v < 1000 ? fixed(v, 3) : v.toLocaleString('en-US', { maximumFractionDigits: 0 })));

/** A speed in GFLOP/s, with the unit that suits it. */
export const speed = (value: Maybe): string =>
  write(value, v => (v < 999.5 ? `${fixed(v, 3)} GFLOP/s` : `${fixed(v / 1000, 3)} TFLOP/s`));

export const times = (value: Maybe): string => write(value, v => `${fixed(v, 3)}×`);

export const duration = (ms: Maybe): string =>
  write(ms, v => {
    if (v < 1) return `${fixed(v * 1000, 3)} µs`;
    return v < 1000 ? `${fixed(v, 3)} ms` : `${fixed(v / 1000, 3)} s`;
  });

export const percent = (share: Maybe): string => write(share, v => `${(v * 100).toFixed(1)} %`);

export const scientific = (value: Maybe): string => write(value, v => v.toExponential(1));

export const bytes = (value: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let amount = value;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit++;
  }
  return `${Number(amount.toFixed(2))} ${units[unit]}`;
};

/** `value` with `significant` digits, without an exponent: 0.0123, 8.69, 86.9, 869. */
function fixed(value: number, significant: number): string {
  const before = value > 0 ? Math.floor(Math.log10(value)) + 1 : 1;
  return value.toFixed(Math.max(0, Math.min(6, significant - before)));
}

/** The adapter's own name, and the driver's where it tells that too. */
export function adapterName(profile: Profile): string {
  const name = describeProfile(profile).replace(/-+$/, ''); // Dawn turns a name's brackets into dashes
  const driver = profile.description;
  return driver && driver !== name ? `${name} (${driver})` : name;
}

/** What Dawn drives the GPU through. The adapter does not say; Dawn takes the platform's own where it can. */
export const backendOf = (platform: string): string =>
  platform.startsWith('darwin') ? 'Metal' : platform.startsWith('win32') ? 'D3D12' : 'Vulkan';
