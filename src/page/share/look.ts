/** The page's colours and faces as a picture needs them, which can't read the page's styles. */
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

/** What the tokens are in one of the two themes, whichever the page has. */
export function lookOf(scheme: Scheme): Look {
  const probe = document.createElement('span');
  probe.style.colorScheme = scheme;
  // A custom property with light-dark() is resolved where a colour is made of it.
  document.body.append(probe);
  const colour = (token: string) => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
  const face = (token: string) => getComputedStyle(probe).getPropertyValue(`--${token}`).trim();
  try {
    return {
      paper: colour('sheet'),
      ...{ ink: colour('ink'), soft: colour('soft'), faint: colour('faint'), line: colour('line') },
      series: [1, 2, 3, 4].map(index => colour(`series-${index}`)),
      ...{ serif: face('serif'), sans: face('sans') },
    };
  } finally {
    probe.remove();
  }
}

/** The theme that the page has now. */
export function schemeNow(): Scheme {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
