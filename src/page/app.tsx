/** The shell: header, navigation, the view of the route, footer. */
import { useEffect, useRef } from 'preact/hooks';
import { DeviceChip } from './components/device-chip.tsx';
import { ThemeSwitch } from './components/theme-switch.tsx';
import { hrefOf, route, VIEWS } from './state/route.ts';
import { TITLES, ViewOf } from './views/index.tsx';

export function App() {
  const main = useRef<HTMLElement>(null);
  const { view } = route.value;
  const first = useRef(true);
  useEffect(() => {
    document.title = `${TITLES[view]} · webgemm`;
    // A reader of the page hears where a link led to; the page itself begins at its top.
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [view]);
  return (
    <div class="app">
      <header class="app-header">
        {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place in the page, whose hash is the route */}
        <a
          class="skip-link"
          href="#main"
          onClick={event => {
            event.preventDefault();
            main.current?.focus();
          }}
        >
          Skip to the content
        </a>
        <div class="app-bar">
          <a class="brand" href={hrefOf('ladder')}>
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d="M1 11h4v4H1zM6 6h4v9H6zM11 1h4v14h-4z" />
            </svg>
            webgemm
          </a>
          <nav class="app-nav" aria-label="Views">
            <ul>
              {VIEWS.map(name => (
                <li key={name}>
                  <a href={hrefOf(name)} aria-current={name === view ? 'page' : undefined}>
                    {TITLES[name]}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <DeviceChip />
          <ThemeSwitch />
        </div>
      </header>
      <main class="app-main" id="main" ref={main} tabIndex={-1}>
        <ViewOf key={view} name={view} />
      </main>
      <footer class="app-footer">
        <div>
          <span>
            Everything runs on your own GPU, in this page. Nothing is sent anywhere and nothing is loaded from
            elsewhere.
          </span>
          <span class="figure">webgemm {WEBGEMM_VERSION} · MIT licence</span>
        </div>
      </footer>
    </div>
  );
}
