/** Sizes and types of the product to race on. */
import { NumberField, SelectField } from '../../components/field.tsx';
import { device } from '../../state/device.ts';
import { presetLabel, presets, shapeOf, sizeProblem, type Typed } from './shape.ts';
import { change, type, typed } from './state.ts';

const EMPTY: Typed = { m: '', n: '', k: '' };
const HINTS = { m: 'rows of A and C', n: 'columns of B and C', k: 'columns of A, rows of B' } as const;

export function ProductFields({ disabled }: { readonly disabled: boolean }) {
  const ready = device.value.status === 'ready' ? device.value.info.profile : null;
  const choices = presets(ready?.software ?? false);
  const off = disabled || !typed.value;
  const values = typed.value ?? EMPTY;
  const shape = shapeOf(values);
  const chosen = choices.findIndex(({ m, n, k }) => m === shape?.m && n === shape.n && k === shape.k);
  const f16 = ready?.features.includes('shader-f16') ?? false;
  return (
    <div class="row-fields">
      <SelectField
        label="Product"
        value={String(chosen)}
        options={[
          ...choices.map((it, index) => ({ value: String(index), label: presetLabel(it) })),
          ...(chosen < 0 ? [{ value: '-1', label: 'your own' }] : []),
        ]}
        disabled={off}
        onChange={value => {
          const { m, n, k } = choices[Number(value)] ?? choices[0];
          change({ typed: { m: String(m), n: String(n), k: String(k) } });
        }}
      />
      {(['m', 'n', 'k'] as const).map(name => (
        <NumberField
          key={name}
          label={name}
          hint={HINTS[name]}
          value={values[name]}
          error={typed.value ? sizeProblem(values[name]) : undefined}
          disabled={off}
          onInput={value => change({ typed: { ...values, [name]: value } })}
        />
      ))}
      <SelectField
        label="Type"
        value={type.value}
        options={[
          { value: 'f32', label: 'f32' },
          { value: 'f16', label: 'f16' },
        ]}
        {...(ready && !f16 ? { hint: 'this GPU has no f16' } : {})}
        disabled={off}
        onChange={value => change({ type: value })}
      />
    </div>
  );
}
