/** Where a webhook is reached. */
import { type FieldError, invalid, required } from '../../field-error.ts';
import type { ServiceReference, WebhookClientConfig } from '../../generated/types.ts';
import { dnsSubdomainProblems } from '../../validation/names.ts';
import { outOfRange } from '../../validation/text.ts';

export function validateClientConfig({ url, service }: WebhookClientConfig, field: string): FieldError[] {
  if (url !== undefined && service === undefined) return validateUrl(url, `${field}.url`);
  if (service !== undefined && url === undefined) return validateService(service, `${field}.service`);
  return [required(field, 'exactly one of url or service is required')];
}

const form = '; desired format: https://host[/path]';
const parts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

function validateUrl(url: string, field: string): FieldError[] {
  const unreadable = urlProblem(url);
  if (unreadable !== undefined) return [required(field, `url must be a valid URL: parse ${JSON.stringify(url)}: ${unreadable}${form}`)];
  const [, scheme = '', authority = '', , query = '', fragment = ''] = parts.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https') errors.push(invalid(field, scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`));
  if (authority.slice(at + 1) === '') errors.push(invalid(field, '', `host must be specified${form}`));
  if (at >= 0) errors.push(invalid(field, authority.slice(0, at), 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(invalid(field, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(invalid(field, query, 'query parameters are not permitted in the URL'));
  return errors;
}

/** As Go's parser says it, which takes nearly everything. */
function urlProblem(url: string): string | undefined {
  if (Array.from(url).some((c) => c < ' ' || c === '\u007f')) return 'net/url: invalid control character in URL';
  if (url.startsWith(':')) return 'missing protocol scheme';
  const [, scheme, authority] = parts.exec(url) ?? [];
  if (scheme === undefined && authority === undefined && /^[^/?#]*:/.test(url)) return 'first path segment in URL cannot contain colon';
  const broken = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(url);
  if (broken !== null) return `invalid URL escape ${JSON.stringify(broken[0])}`;
  const host = (authority ?? '').slice((authority ?? '').lastIndexOf('@') + 1);
  if (host.includes(' ')) return 'invalid character " " in host name';
  const port = /^(?:\[[^\]]*\]|[^:]*)(:.*)$/.exec(host)?.[1];
  return port === undefined || /^:\d*$/.test(port) ? undefined : `invalid port ${JSON.stringify(port)} after host`;
}

function validateService({ namespace, name, path, port = 443 }: ServiceReference, field: string): FieldError[] {
  const errors: FieldError[] = [];
  // Kubernetes takes one for the other here.
  if (namespace === '') errors.push(required(`${field}.name`));
  if (name === '') errors.push(required(`${field}.namespace`));
  if (port < 1 || port > 65_535) errors.push(invalid(`${field}.port`, port, `port is not valid: ${outOfRange(1, 65_535)}`));
  return path === undefined ? errors : [...errors, ...validatePath(path, `${field}.path`)];
}

function validatePath(path: string, field: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalid(field, path, 'segment[0] may not be empty')];
  const errors: FieldError[] = path.startsWith('/') ? [] : [invalid(field, path, "must start with a '/'")];
  const inner = path.slice(1).replace(/\/$/, '');
  for (const [i, segment] of inner.split('/').entries()) {
    if (segment === '') errors.push(invalid(field, path, `segment[${i}] may not be empty`));
    else for (const problem of dnsSubdomainProblems(segment)) errors.push(invalid(field, path, `segment[${i}]: ${problem}`));
  }
  return errors;
}
