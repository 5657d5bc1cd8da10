/** What is on the workbench: a rung or a kernel, the size, a kernel's types and parameters. */
import { useState } from 'preact/hooks';
import { Field, NumberField, SelectField } from '../../components/field.tsx';
import { Prose } from '../../components/prose.tsx';
import { describeParameter, describeParams, freeNames } from './parameters.ts';
import { type Choice, KERNEL_CHOICES, kernelOf, RUNG_CHOICES, type SourceId } from './sources.ts';
import { bench, built, candidates, choose, chooseSource, paramTexts, sizeTexts } from './state.ts';

const SQUARES = ['64', '128', '256', '512', '1024', '2048'];
const OTHER = 'other';

export function SourceFields() {
  const { source, type } = bench.value;
  const { general } = built.value.problems;
  return (
    <>
      <div class="row-fields">
        <Field
          label="Start from"
          control={props => (
            <select
              {...props}
              class="input workbench-source"
              value={source}
              onChange={event => chooseSource(event.currentTarget.value as SourceId)}
            >
              <Group label="Rungs of the ladder" choices={RUNG_CHOICES} />
              <Group label="Kernels of the library" choices={KERNEL_CHOICES} />
            </select>
          )}
        />
        {kernelOf(source) && (
          <SelectField
            label="A and B"
            value={type}
            options={[
              { value: 'f32', label: 'f32' },
              { value: 'f16', label: 'f16' },
            ]}
            onChange={value => choose({ type: value, params: null })}
          />
        )}
        <SizeFields />
      </div>
      {kernelOf(source) && <ParameterFields />}
      {general && (
        <p class="field-error" role="alert">
          <Prose text={general} />
        </p>
      )}
    </>
  );
}

const Group = ({ label, choices }: { readonly label: string; readonly choices: readonly Choice[] }) => (
  <optgroup label={label}>
    {choices.map(choice => (
      <option key={choice.id} value={choice.id}>
        {choice.label}
      </option>
    ))}
  </optgroup>
);

function SizeFields() {
  const { m, n, k } = sizeTexts.value;
  const { size: wrong } = built.value.problems;
  const square = m === n && n === k && SQUARES.includes(m);
  const [other, setOther] = useState(false);
  const free = other || !square;
  return (
    <>
      <SelectField
        label="Size"
        value={free ? OTHER : m}
        options={[
          ...SQUARES.map(size => ({ value: size, label: `${size} × ${size} × ${size}` })),
          { value: OTHER, label: 'm × n × k …' },
        ]}
        onChange={value => {
          setOther(value === OTHER);
          choose({ size: value === OTHER ? { m, n, k } : { m: value, n: value, k: value } });
        }}
      />
      {free &&
        (['m', 'n', 'k'] as const).map(name => (
          <NumberField
            key={name}
            label={name}
            value={sizeTexts.value[name]}
            error={wrong[name] ?? undefined}
            onInput={typed => choose({ size: { m, n, k, [name]: typed } })}
          />
        ))}
    </>
  );
}

function ParameterFields() {
  const texts = paramTexts.value;
  const names = Object.keys(texts);
  if (names.length === 0) return null;
  const { params: wrong, together } = built.value.problems;
  const isChosen = (index: number) =>
    freeNames(candidates.value[index]).every(name => String(candidates.value[index][name]) === texts[name]);
  const chosen = candidates.value.findIndex((_, index) => isChosen(index));
  return (
    <fieldset class="workbench-parameters" aria-describedby={together ? 'workbench-together' : undefined}>
      <legend>Parameters</legend>
      <div class="row-fields">
        {names.map(name => (
          <NumberField
            key={name}
            label={describeParameter(name).label}
            hint={describeParameter(name).hint}
            value={texts[name]}
            error={wrong[name] ?? undefined}
            onInput={typed => choose({ params: { ...texts, [name]: typed } })}
          />
        ))}
      </div>
      {together && (
        <p class="field-error" id="workbench-together" role="alert">
          <Prose text={together} />
        </p>
      )}
      {candidates.value.length > 1 && (
        <SelectField
          label="The kernel’s own choices, the best guess for this size first"
          value={String(chosen)}
          options={[
            ...(chosen < 0 ? [{ value: '-1', label: 'your own' }] : []),
            ...candidates.value.map((params, index) => ({
              value: String(index),
              label: describeParams(params),
            })),
          ]}
          onChange={index => {
            const params = candidates.value[Number(index)];
            if (!params) return;
            choose({
              params: Object.fromEntries(freeNames(params).map(name => [name, String(params[name])])),
            });
          }}
        />
      )}
    </fieldset>
  );
}
