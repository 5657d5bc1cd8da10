/** Which view is shown, and what its address says: `#/workbench?rung=4`. */
import { signal } from '@preact/signals';

export const VIEWS = ['ladder', 'workbench', 'gemm', 'race', 'results'] as const;
export type ViewName = (typeof VIEWS)[number];

export interface Route {
  readonly view: ViewName;
  readonly params: URLSearchParams;
}

export const route = signal<Route>(read());

/** The address that `route` was read from. */
let heard = location.hash;

addEventListener('hashchange', hear);

function hear(): void {
  heard = location.hash;
  route.value = read();
}

function read(): Route {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return { view: VIEWS.find(name => name === path) ?? 'ladder', params: new URLSearchParams(query) };
}

/** A view's address, for a link's href. */
export function hrefOf(view: ViewName, params: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(params).toString();
  return `#/${view}${query && `?${query}`}`;
}

/**
 * Changes what the address says of the view that is shown, without a step in the browser's history. An address that was
 * just followed, and that the page has not heard of yet, is left alone.
 */
export function replaceParams(params: Readonly<Record<string, string>>): void {
  if (location.hash !== heard) return;
  history.replaceState(null, '', hrefOf(route.value.view, params));
  hear();
}
