import type { JSX } from 'preact';
import { THEMES, type Theme, theme } from '../state/theme.ts';

const ICONS: Readonly<Record<Theme, { readonly name: string; readonly icon: JSX.Element }>> = {
  system: { name: 'As the system', icon: <path d="M2 3h12v8H2zM6 14h4M8 11v3" /> },
  light: {
    name: 'Light',
    icon: (
      <path d="M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1" />
    ),
  },
  dark: { name: 'Dark', icon: <path d="M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z" /> },
};

export function ThemeSwitch() {
  return (
    <fieldset class="theme-switch segments" aria-label="Colours">
      {THEMES.map(name => (
        <label key={name} title={ICONS[name].name}>
          <input
            class="visually-hidden"
            type="radio"
            name="theme"
            value={name}
            checked={theme.value === name}
            onChange={() => {
              theme.value = name;
            }}
          />
          <svg viewBox="0 0 16 16" aria-hidden="true">
            {ICONS[name].icon}
          </svg>
          <span class="visually-hidden">{ICONS[name].name}</span>
        </label>
      ))}
    </fieldset>
  );
}
