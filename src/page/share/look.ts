/**
 * The page's colours and faces as a picture needs them: in the theme that was chosen for it, which need not be the
 * page's. So they are read from the tokens' own text.
 */
import tokens from '../styles/tokens.css?raw';

export interface Look {
  readonly paper: string;
  readonly ink: string;
  readonly soft: string;
  readonly faint: string;
  readonly line: string;
  readonly series: readonly string[];
  readonly serif: string;
  readonly sans: string;
}

export type Scheme = 'light' | 'dark';

export const lookOf = (scheme: Scheme): Look => ({
  paper: colour('sheet', scheme),
  ink: colour('ink', scheme),
  soft: colour('soft', scheme),
  faint: colour('faint', scheme),
  line: colour('line', scheme),
  series: [1, 2, 3, 4].map(index => colour(`series-${index}`, scheme)),
  serif: token('serif'),
  sans: token('sans'),
});

/** The theme that the page has now. */
export function schemeNow(): Scheme {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

const token = (name: string): string => new RegExp(`--${name}:\\s*([^;]+);`).exec(tokens)?.[1] ?? '';

/** A token is `light-dark(…, …)`, or stands for another one. */
function colour(name: string, scheme: Scheme): string {
  const value = token(name);
  const [, other] = /^var\(--([\w-]+)\)$/.exec(value) ?? [];
  if (other) return colour(other, scheme);
  const [, light, dark] = /^light-dark\((.+),\s*(.+)\)$/.exec(value) ?? [];
  return (scheme === 'light' ? light : dark) ?? value;
}
