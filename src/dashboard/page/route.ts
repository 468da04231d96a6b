import { computed, signal } from '@preact/signals';

/** Where the page is: '#/chain/shop/data?namespace=shop'. */
export interface Route {
  readonly view: string;
  readonly arguments: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const route = computed<Route>(() => {
  const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?');
  const [view = '', ...rest] = path.split('/').map(decodeURIComponent);
  return { view: view === '' ? 'claims' : view, arguments: rest, query: new URLSearchParams(query) };
});

/** A link within the page. */
export const href = (view: string, ...parts: readonly string[]): string => `#/${[view, ...parts].map(encodeURIComponent).join('/')}`;

/** In place of the present address, which does not stay in the history of the browser. */
export function replaceRoute(target: string): void {
  history.replaceState(null, '', `${location.pathname}${target}`);
  hash.value = target;
}

export function go(target: string): void {
  location.hash = target;
}
