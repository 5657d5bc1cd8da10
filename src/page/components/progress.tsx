interface ProgressProps {
  /** What is being done, for people. */
  readonly label: string;
  /** From 0 to 1; null where nobody knows. */
  readonly value: number | null;
}

export function Progress({ label, value }: ProgressProps) {
  return (
    <div class="progress">
      <span aria-live="polite">{label}</span>
      <progress aria-label={label} max={1} {...(value === null ? {} : { value })} />
    </div>
  );
}
