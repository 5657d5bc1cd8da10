import type { ComponentProps } from 'preact';

export interface ButtonProps extends ComponentProps<'button'> {
  /** `primary`: the one thing to do here; `quiet`: beside others; `danger`: stops or removes. */
  readonly variant?: 'primary' | 'quiet' | 'danger';
}

export function Button({ variant, ...rest }: ButtonProps) {
  return <button type="button" {...rest} class={`button${variant ? ` button-${variant}` : ''}`} />;
}
