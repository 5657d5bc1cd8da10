/** Products that people meet, by name. */
import { DEFAULTS, type Fields } from './fields.ts';

export interface Preset {
  readonly name: string;
  readonly fields: Partial<Fields>;
}

const sized = (m: number, n: number, k: number, batch = 1): Partial<Fields> => ({
  ...{ m: String(m), n: String(n), k: String(k), batch: String(batch) },
});

export const PRESETS: readonly Preset[] = [
  { name: 'Square, small', fields: sized(128, 128, 128) },
  { name: 'Square', fields: sized(1024, 1024, 1024) },
  { name: 'Square, large', fields: sized(4096, 4096, 4096) },
  { name: 'Odd sizes', fields: sized(1023, 1025, 1027) },
  { name: 'One token through a language model (GEMV)', fields: { ...sized(1, 4096, 4096), type: 'f16' } },
  { name: 'Eight tokens', fields: { ...sized(8, 4096, 4096), type: 'f16' } },
  { name: 'A prompt of 512 tokens', fields: { ...sized(512, 4096, 4096), type: 'f16' } },
  {
    name: 'Attention scores, 32 heads',
    fields: { ...sized(512, 512, 64, 32), type: 'f16', transB: '1' },
  },
  {
    name: 'Dense layer: bias and gelu',
    fields: { ...sized(512, 4096, 1024), bias: 'row', activation: 'gelu' },
  },
  { name: 'Deep: few cells, long sums', fields: sized(64, 64, 65536) },
  { name: 'Tall and narrow', fields: sized(65536, 64, 64) },
  { name: 'Many tiny products', fields: sized(64, 64, 64, 256) },
  { name: '8-bit integers', fields: { ...sized(1024, 1024, 1024), type: 'i8' } },
];

/** The fields with a preset's product; kernel and device stay as they are. */
export const withPreset = ({ kernel, device }: Fields, preset: Preset): Fields => ({
  ...{ ...DEFAULTS, kernel, device },
  ...preset.fields,
});

/** The preset that the fields are, if they are one. */
export const presetOf = (fields: Fields): Preset | undefined =>
  PRESETS.find(preset => {
    const whole = withPreset(fields, preset);
    return Object.entries(whole).every(([name, value]) => fields[name as keyof Fields] === value);
  });
