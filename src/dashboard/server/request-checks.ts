/** Whether a request may come from the page: against DNS rebinding (Host), other sites (Origin, Sec-Fetch-Site) and pods of the machine (address). */

export interface BrowserRequest {
  readonly method: string;
  header(name: string): string | undefined;
  /** The address that the connection arrived at. */
  readonly localAddress: string | undefined;
}

export interface Reach {
  /** Names and addresses under which the page may be opened, besides those of loopback. */
  readonly hosts: readonly string[];
  /** False: only connections that arrive at a loopback address. */
  readonly beyondLoopback: boolean;
}

/** Why the request is refused; undefined: it is not. */
export function refusal(request: BrowserRequest, { hosts, beyondLoopback }: Reach): string | undefined {
  if (!beyondLoopback && !isLoopback(request.localAddress ?? '')) return 'the dashboard is served on loopback addresses only';
  const host = request.header('host');
  if (host === undefined) return 'the request has no Host';
  const name = host.replace(/:\d+$/, '').toLowerCase();
  if (![...loopbackNames, ...hosts.map(inUrl)].includes(name)) return `the dashboard is not served under the name ${JSON.stringify(name)}`;
  return undefined;
}

/** The same for a request that uses a session, or asks for one: a script of the page itself sends it. */
export function crossSiteRefusal(request: BrowserRequest): string | undefined {
  const site = request.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return `the request comes from another site (Sec-Fetch-Site: ${JSON.stringify(site)})`;
  const origin = request.header('origin');
  if (origin !== undefined && origin !== `https://${request.header('host') ?? ''}`) return `the request comes from another origin (${JSON.stringify(origin)})`;
  return undefined;
}

export const isLoopback = (address: string): boolean => address === '::1' || /^(?:::ffff:)?127\./.test(address);

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];
const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host).toLowerCase();
