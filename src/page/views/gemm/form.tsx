/** The fields that describe a product, and the device and kernel to explain it for. */
import { useState } from 'preact/hooks';
import { KERNELS } from '../../../kernels/index.ts';
import { describeProfile } from '../../../profile.ts';
import { Button } from '../../components/button.tsx';
import { Details } from '../../components/details.tsx';
import { Checkbox, Field, NumberField, type Option, SelectField } from '../../components/field.tsx';
import { device } from '../../state/device.ts';
import { OTHER_DEVICES } from './devices.ts';
import { DEFAULTS, type FieldName } from './fields.ts';
import { PRESETS, presetOf, withPreset } from './presets.ts';
import { explained, fields } from './state.ts';

const options = (...names: string[]): Option<string>[] => names.map(value => ({ value, label: value }));
const TYPES = options('f32', 'f16', 'i8', 'u8');

/** Fields that stand in the part which opens. */
const AROUND: readonly FieldName[] = [
  ...(['alpha', 'beta', 'bias', 'activation', 'clipMin', 'clipMax', 'residual', 'epilogue'] as const),
];

export function Form() {
  // Open where it says something, until the visitor decides.
  const [decided, decide] = useState<boolean | null>(null);
  const wrong = AROUND.some(name => explained.value.errors[name]);
  const open = wrong || (decided ?? AROUND.some(name => fields.value[name] !== DEFAULTS[name]));
  const integers = /^[iu]8$/.test(fields.value.type);
  return (
    <form class="gemm-form sheet section" aria-label="The product" onSubmit={event => event.preventDefault()}>
      <SelectField
        label="Start from"
        value={presetOf(fields.value)?.name ?? ''}
        options={[
          { value: '', label: 'Your own product' },
          ...PRESETS.map(({ name }) => ({ value: name, label: name })),
        ]}
        onChange={name => {
          const preset = PRESETS.find(it => it.name === name);
          if (preset) fields.value = withPreset(fields.value, preset);
        }}
      />
      <div class="gemm-sizes">
        <NumberOf name="m" label="m, rows" />
        <NumberOf name="n" label="n, columns" />
        <NumberOf name="k" label="k, depth" />
        <NumberOf name="batch" label="Batch" />
      </div>
      <div class="gemm-sizes">
        <ChoiceOf name="type" label="Type of A" choices={TYPES} />
        <ChoiceOf name="bType" label="Type of B" choices={[{ value: '', label: 'as A' }, ...TYPES]} />
        <ChoiceOf
          name="cType"
          label="Type of C"
          choices={[
            { value: '', label: integers ? 'i32' : `as A` },
            ...options(...(integers ? ['i32'] : ['f32', 'f16'])),
          ].filter(({ value }, index) => index === 0 || value !== 'i32')}
        />
        <ChoiceOf name="accuracy" label="Accuracy" choices={ACCURACY} />
      </div>
      <div class="row">
        <FlagOf name="transA" label="A is stored transposed" />
        <FlagOf name="transB" label="B is stored transposed" />
      </div>
      <Details summary="Around the product" open={open} onToggle={decide}>
        {open && <Around integers={integers} />}
      </Details>
      <ChoiceOf
        name="kernel"
        label="Kernel"
        choices={[
          { value: '', label: 'The library chooses' },
          ...KERNELS.map(({ name }) => ({ value: name, label: `only ${name}` })),
        ]}
      />
      <ChoiceOf
        name="device"
        label="Explain for"
        choices={[
          { value: '', label: deviceHere() },
          ...OTHER_DEVICES.map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
      <Share />
    </form>
  );
}

const ACCURACY: Option<string>[] = [
  { value: 'f32', label: 'as f32' },
  { value: 'strict', label: 'f32 only' },
  { value: 'f16', label: 'f16 allowed' },
];

function Around({ integers }: { readonly integers: boolean }) {
  const clip = fields.value.activation === 'clip';
  return (
    <div class="section">
      <p class="small muted">
        C = activation(alpha · A·B + beta · C + bias) + residual, then your expression.
      </p>
      <div class="gemm-sizes">
        <NumberOf name="alpha" label="alpha" />
        <NumberOf name="beta" label="beta" />
        <ChoiceOf
          name="bias"
          label="Bias"
          choices={[
            { value: 'none', label: 'none' },
            { value: 'row', label: 'a row of n' },
            { value: 'column', label: 'a column of m' },
          ]}
        />
        <ChoiceOf
          name="activation"
          label="Activation"
          choices={options(
            ...(integers
              ? ['none', 'relu', 'clip']
              : ['none', 'relu', 'gelu', 'gelu-tanh', 'silu', 'sigmoid', 'tanh', 'clip']),
          )}
        />
        {clip && <NumberOf name="clipMin" label="Clip from" />}
        {clip && <NumberOf name="clipMax" label="to" />}
      </div>
      <FlagOf name="residual" label="Add a residual, laid out as C" />
      <Field
        label="WGSL expression"
        hint="Of value, row, col and batch: what is stored"
        error={explained.value.errors.epilogue}
        control={props => (
          <textarea
            {...props}
            class="input gemm-expression"
            rows={2}
            spellcheck={false}
            placeholder="value * 0.5"
            value={fields.value.epilogue}
            onInput={event => set('epilogue', event.currentTarget.value)}
          />
        )}
      />
    </div>
  );
}

function deviceHere(): string {
  const state = device.value;
  if (state.status !== 'ready') return 'This device';
  return `This device: ${describeProfile(state.info.profile)}`;
}

function Share() {
  const [said, say] = useState('');
  const copy = () =>
    navigator.clipboard.writeText(location.href).then(
      () => say('Copied.'),
      () => say('The browser did not let the page copy: take it from the address bar.'),
    );
  return (
    <div class="row">
      <Button variant="quiet" onClick={copy}>
        Copy a link to this product
      </Button>
      <span class="small muted" role="status">
        {said}
      </span>
    </div>
  );
}

function set(name: FieldName, value: string): void {
  fields.value = { ...fields.value, [name]: value };
}

interface FieldProps {
  readonly name: FieldName;
  readonly label: string;
}

const NumberOf = ({ name, label }: FieldProps) => (
  <NumberField
    label={label}
    value={fields.value[name]}
    error={explained.value.errors[name]}
    onInput={value => set(name, value)}
  />
);

const ChoiceOf = ({ name, label, choices }: FieldProps & { readonly choices: Option<string>[] }) => (
  <SelectField
    label={label}
    value={fields.value[name]}
    options={choices}
    error={explained.value.errors[name]}
    onChange={value => set(name, value)}
  />
);

const FlagOf = ({ name, label }: FieldProps) => (
  <Checkbox
    label={label}
    checked={fields.value[name] === '1'}
    onChange={checked => set(name, checked ? '1' : '')}
  />
);
