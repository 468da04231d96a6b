/** The Host of a request, checked as Go's net/http does (server.go, http.ReadRequest), and over HTTP/2 as RFC 9113, 8.3.1 asks. */

/** Of a Host with a port or an IPv6 address as well (httpguts.ValidHostHeader). */
const validHost = /^[A-Za-z0-9!$%&'()*+,\-.:;=[\]_~]*$/;

export const isValidHost = (value: string): boolean => validHost.test(value);

/** What is wrong with the Host of a request over HTTP/1; undefined: nothing. `raw`: names and values in turn, as sent. */
export function hostProblem(raw: readonly string[], version: string): string | undefined {
  const hosts = hostsOf(raw);
  if (hosts.length > 1) return 'too many Host headers';
  const [host] = hosts;
  if (host === undefined) return version === '1.0' ? undefined : 'missing required Host header';
  return isValidHost(host) ? undefined : 'malformed Host header';
}

/** Over HTTP/2 the authority is a field of its own, and a Host beside it has to be the same. */
export function authorityProblem(raw: readonly string[], authority: string | undefined): string | undefined {
  const hosts = hostsOf(raw);
  if (hosts.length > 1) return 'too many Host headers';
  const [host = authority] = hosts;
  if (![host, authority].every((value) => value === undefined || isValidHost(value))) return 'malformed Host header';
  return host?.toLowerCase() === (authority ?? host)?.toLowerCase() ? undefined : 'the Host header differs from :authority';
}

function hostsOf(raw: readonly string[]): readonly string[] {
  const hosts: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) if (raw[i]?.toLowerCase() === 'host') hosts.push((raw[i + 1] ?? '').trim());
  return hosts;
}
