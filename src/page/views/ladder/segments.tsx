import { useId } from 'preact/hooks';
import type { Option } from '../../components/field.tsx';

interface SegmentsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly onChange: (value: Value) => void;
}

/** A choice between few things, all of them in sight. */
export function Segments<Value extends string>({ label, value, options, onChange }: SegmentsProps<Value>) {
  const name = useId();
  return (
    <fieldset class="ladder-segments">
      <legend class="field-label">{label}</legend>
      <div class="segments">
        {options.map(option => (
          <label key={option.value}>
            <input
              class="visually-hidden"
              type="radio"
              name={name}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
