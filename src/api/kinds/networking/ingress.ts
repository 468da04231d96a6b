import { type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressStatus, IngressTLS, TypedLocalObjectReference } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { portNameProblems, portNumberProblems } from '../../validation/formats.ts';
import { parseIp, validateLegacyIp } from '../../validation/ip.ts';
import { dnsLabelProblems, dnsSubdomainProblems, nameIsDnsSubdomain, pathSegmentProblems } from '../../validation/names.ts';
import { mismatch } from '../../validation/text.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { invalidEach } from '../../validation/field-rules.ts';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

const wildcardFormat = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const wildcard = new RegExp(`^${wildcardFormat}$`);
const wildcardRule =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";

/** A name of a host, of which the first label may be a star. */
function hostProblems(host: string): string[] {
  if (!host.includes('*')) return dnsSubdomainProblems(host);
  const tooLong = host.length > 253 ? ['must be no more than 253 characters'] : [];
  return wildcard.test(host) ? tooLong : [...tooLong, mismatch(wildcardRule, wildcardFormat, '*.example.com')];
}

const NOT_AN_ADDRESS = 'must be a DNS name, not an IP address';

function validate({ spec }: Ingress, old?: Ingress): FieldError[] {
  const { rules = [], defaultBackend, tls = [], ingressClassName } = spec;
  const errors: FieldError[] = [];
  if (rules.length === 0 && defaultBackend === undefined) {
    errors.push(invalid('spec', spec.rules ?? null, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (defaultBackend !== undefined) errors.push(...validateBackend(defaultBackend, 'spec.defaultBackend'));
  for (const [i, rule] of rules.entries()) errors.push(...validateRule(rule, `spec.rules[${i}]`, old));
  const hadWrongSecrets = (old?.spec.tls ?? []).some(({ secretName = '' }) => secretName !== '' && dnsSubdomainProblems(secretName).length > 0);
  for (const [i, one] of tls.entries()) errors.push(...validateTls(one, `spec.tls[${i}]`, hadWrongSecrets));
  if (ingressClassName !== undefined) errors.push(...invalidEach('spec.ingressClassName', ingressClassName, dnsSubdomainProblems(ingressClassName)));
  return errors;
}

function validateTls({ hosts = [], secretName = '' }: IngressTLS, field: string, anySecretName: boolean): FieldError[] {
  return [
    ...hosts.flatMap((host, i) => invalidEach(`${field}.hosts[${i}]`, host, hostProblems(host))),
    ...(anySecretName || secretName === '' ? [] : invalidEach(`${field}.secretName`, secretName, dnsSubdomainProblems(secretName))),
  ];
}

function validateRule({ host = '', http }: IngressRule, field: string, old: Ingress | undefined): FieldError[] {
  const errors: FieldError[] = [];
  if (host !== '' && parseIp(host) !== undefined) errors.push(invalid(`${field}.host`, host, NOT_AN_ADDRESS));
  if (host !== '') errors.push(...invalidEach(`${field}.host`, host, hostProblems(host)));
  if (http === undefined || (host.includes('*') && hadWrongWildcards(old))) return errors;
  const paths = http.paths ?? [];
  if (paths.length === 0) errors.push(required(`${field}.http.paths`));
  return [...errors, ...paths.flatMap((path, i) => validatePath(path, `${field}.http.paths[${i}]`))];
}

/** Rules under wildcards were not looked at once: what was wrong with one before may stay. */
function hadWrongWildcards(old: Ingress | undefined): boolean {
  return (old?.spec.rules ?? []).some(
    ({ host = '', http }) =>
      host.includes('*') && http !== undefined && ((http.paths ?? []).length === 0 || (http.paths ?? []).some((path) => validatePath(path, '').length > 0)),
  );
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const forbiddenInside = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenAtEnd = ['/..', '/.'];

function validatePath({ path = '', pathType, backend }: HTTPIngressPath, field: string): FieldError[] {
  if (pathType === null) return [required(`${field}.pathType`, 'pathType must be specified')];
  const at = `${field}.path`;
  const errors: FieldError[] = [];
  const relative = path.startsWith('/') ? [] : [invalid(at, path, 'must be an absolute path')];
  switch (pathType) {
    case 'Exact':
    case 'Prefix':
      errors.push(...relative);
      for (const part of forbiddenInside) if (path.includes(part)) errors.push(invalid(at, path, `must not contain '${part}'`));
      for (const end of forbiddenAtEnd) if (path.endsWith(end)) errors.push(invalid(at, path, `cannot end with '${end}'`));
      break;
    case 'ImplementationSpecific':
      if (path !== '') errors.push(...relative);
      break;
    default:
      errors.push(notSupported(`${field}.pathType`, pathType, pathTypes));
  }
  return [...errors, ...validateBackend(backend, `${field}.backend`)];
}

function validateBackend({ service, resource }: IngressBackend, field: string): FieldError[] {
  if (resource !== undefined && service !== undefined) return [invalid(field, '', 'cannot set both resource and service backends')];
  if (resource !== undefined) return validateResource(resource, `${field}.resource`);
  if (service === undefined) return [invalid(field, '', 'resource or service backend is required')];
  const { name } = service;
  const { name: portName = '', number = 0 } = service.port;
  const at = `${field}.service`;
  const errors = name === '' ? [required(`${at}.name`)] : invalidEach(`${at}.name`, name, dnsLabelProblems(name));
  if (portName !== '' && number !== 0) errors.push(invalid(field, '', 'cannot set both port name & port number'));
  else if (portName !== '') errors.push(...invalidEach(`${at}.port.name`, portName, portNameProblems(portName)));
  else if (number !== 0) errors.push(...invalidEach(`${at}.port.number`, number, portNumberProblems(number)));
  else errors.push(required(field, 'port name or number is required'));
  return errors;
}

function validateResource({ apiGroup, kind, name }: TypedLocalObjectReference, field: string): FieldError[] {
  return [
    ...(apiGroup === undefined || apiGroup === null ? [] : invalidEach(`${field}.apiGroup`, apiGroup, dnsSubdomainProblems(apiGroup))),
    ...segment(kind, `${field}.kind`),
    ...segment(name, `${field}.name`),
  ];
}

/** What may stand between slashes. */
export const segment = (value: string, field: string): FieldError[] =>
  value === '' ? [required(field)] : invalidEach(field, value, pathSegmentProblems(value, false));

function validateCreate({ metadata, spec }: Ingress): FieldError[] {
  const given = metadata.annotations?.[CLASS_ANNOTATION];
  if (given === undefined || spec.ingressClassName === undefined || given === spec.ingressClassName) return [];
  return [invalid(`annotations.${CLASS_ANNOTATION}`, given, 'must match `ingressClassName` when both are specified')];
}

function validateStatus(status: IngressStatus, old: IngressStatus): FieldError[] {
  const known = (old.loadBalancer.ingress ?? []).flatMap(({ ip = '' }) => (ip === '' ? [] : [ip]));
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip = '', hostname = '' }, i) => {
    const at = `status.loadBalancer.ingress[${i}]`;
    return [
      ...(ip === '' ? [] : validateLegacyIp(ip, `${at}.ip`, known)),
      ...(hostname === '' ? [] : invalidEach(`${at}.hostname`, hostname, dnsSubdomainProblems(hostname))),
      ...(hostname === '' || parseIp(hostname) === undefined ? [] : [invalid(`${at}.hostname`, hostname, NOT_AN_ADDRESS)]),
    ];
  });
}

const SHOWN_HOSTS = 3;

function hosts({ spec }: Ingress): string {
  const rules = spec.rules ?? [];
  const named = rules.flatMap(({ host = '' }) => (host === '' ? [] : [host]));
  const shown = named.slice(0, SHOWN_HOSTS);
  if (shown.length === 0) return '*';
  // As Kubernetes counts: as soon as three are listed, every further rule is one more.
  const third = rules.findIndex(({ host }) => host === shown[SHOWN_HOSTS - 1]);
  return shown.length === SHOWN_HOSTS && third < rules.length - 1 ? `${shown.join(',')} + ${rules.length - SHOWN_HOSTS} more...` : shown.join(',');
}

/** Whole: the server prints for wide screens. */
function address({ status }: Ingress): string {
  const all = (status.loadBalancer.ingress ?? []).map(({ ip = '', hostname = '' }) => (ip === '' ? hostname : ip));
  return [...new Set(all)]
    .filter((one) => one !== '')
    .sort()
    .join(',');
}

export const ingressKind: Kind<Ingress> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  singular: 'ingress',
  shortNames: ['ing'],
  categories: [],
  namespaced: true,
  type: 'Ingress',
  storage: { resource: 'networking.k8s.io/ingresses' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  prepareForCreate: (ingress) => {
    ingress.status = { loadBalancer: {} };
  },
  validate: (ingress) => validate(ingress),
  validateCreate,
  validateUpdate: (ingress, old) => validate(ingress, old),
  checks: { update: ['metadataChange', 'metadata', 'change'] },
  warnings: ({ metadata, spec }, old) =>
    old === undefined && metadata.annotations?.[CLASS_ANNOTATION] !== undefined && spec.ingressClassName === undefined
      ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  status: { validateUpdate: ({ status }, old) => validateStatus(status, old.status) },
  hasGeneration: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Class', ({ spec }) => spec.ingressClassName ?? '<none>'),
    textColumn('Hosts', hosts),
    textColumn('Address', address),
    textColumn('Ports', ({ spec }) => ((spec.tls ?? []).length > 0 ? '80, 443' : '80')),
    ageColumn,
  ],
};
