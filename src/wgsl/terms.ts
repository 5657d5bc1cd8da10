/** WGSL terms as a reader would write them: without what does nothing. */

/** A sum whose constant part may be 0. */
export const plus = (constant: number, rest: string | number): string =>
  typeof rest === 'number' ? `${constant + rest}` : constant ? `${rest} + ${constant}` : rest;

/** A factor to follow a term, where there is need of one. */
export const times = (factor: number): string => (factor === 1 ? '' : ` * ${factor}`);

export const over = (term: string, divisor: number): string =>
  divisor === 1 ? term : `${term} / ${divisor}`;

export const modulo = (term: string, divisor: number): string =>
  divisor === 1 ? '0' : `${term} % ${divisor}`;
