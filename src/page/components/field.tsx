/** A control with its label, a hint and what is wrong with its value; tied together for screen readers. */
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Prose } from './prose.tsx';

/** What the control must take over. */
export interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
}

interface Common {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value, and what would be right; none while it is right. */
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}

export function Field({
  label,
  hint,
  error,
  control,
}: Common & { readonly control: (props: ControlProps) => JSX.Element }) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {control({ id, 'aria-describedby': describedBy || undefined, 'aria-invalid': Boolean(error) })}
      {hint && (
        <span class="field-hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error && (
        <span class="field-error" id={`${id}-error`} role="alert">
          <Prose text={error} />
        </span>
      )}
    </div>
  );
}

/** A whole number, kept as the text that was typed: what it means is for its owner to say. */
export function NumberField({
  value,
  onInput,
  onFocus,
  disabled = false,
  ...common
}: Common & {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly onFocus?: () => void;
}) {
  return (
    <Field
      {...common}
      control={props => (
        <input
          {...props}
          class="input input-number"
          type="text"
          inputMode="numeric"
          autocomplete="off"
          disabled={disabled}
          value={value}
          onInput={event => onInput(event.currentTarget.value)}
          onFocus={onFocus}
        />
      )}
    />
  );
}

export interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

export function SelectField<Value extends string>({
  value,
  options,
  onChange,
  disabled = false,
  ...common
}: Common & {
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <Field
      {...common}
      control={props => (
        <select
          {...props}
          class="input"
          disabled={disabled}
          value={value}
          onChange={event => onChange(event.currentTarget.value as Value)}
        >
          {options.map(option => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    />
  );
}

export function Checkbox({
  label,
  checked,
  onChange,
  disabled = false,
}: {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={event => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
