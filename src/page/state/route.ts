/** Which view is shown, and what its address says: `#/workbench?rung=4`. */
import { signal } from '@preact/signals';

export const VIEWS = ['ladder', 'workbench', 'gemm', 'race', 'results'] as const;
export type ViewName = (typeof VIEWS)[number];

export interface Route {
  readonly view: ViewName;
  readonly params: URLSearchParams;
}

export const route = signal<Route>(read());

addEventListener('hashchange', () => {
  route.value = read();
});

function read(): Route {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return { view: VIEWS.find(name => name === path) ?? 'ladder', params: new URLSearchParams(query) };
}

/** A view's address, for a link's href. */
export function hrefOf(view: ViewName, params: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(params).toString();
  return `#/${view}${query && `?${query}`}`;
}

/** Changes what the address says of the view that is shown, without a step in the browser's history. */
export function replaceParams(params: Readonly<Record<string, string>>): void {
  history.replaceState(null, '', hrefOf(route.value.view, params));
  route.value = read();
}
