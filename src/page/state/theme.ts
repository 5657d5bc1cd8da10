/** Light, dark, or as the system says; kept in this browser. The page's head sets it before anything is drawn. */
import { effect, signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'webgemm.theme';

export const theme = signal<Theme>(stored());

effect(() => {
  const { value } = theme;
  if (value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
});

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return THEMES.find(name => name === value) ?? 'system';
  } catch {
    return 'system';
  }
}
