interface ProgressProps {
  /** What is being done, for people. */
  readonly label: string;
  /** From 0 to 1; null where nobody knows. */
  readonly value: number | null;
  /** False where the owner says in its own words, and less often, how far it is. */
  readonly spoken?: boolean;
}

export function Progress({ label, value, spoken = true }: ProgressProps) {
  return (
    <div class="progress">
      <span aria-live={spoken ? 'polite' : 'off'}>{label}</span>
      <progress aria-label={label} max={1} {...(value === null ? {} : { value })} />
    </div>
  );
}
