import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../../field-error.ts';
import type { DiscoveryEndpointPort, Endpoint, EndpointHints, EndpointSlice } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateFullyQualifiedDomainName } from '../../validation/domain-names.ts';
import { validateEndpointIp } from '../../validation/endpoint-ip.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { ipWarnings, isIpv4, parseIp, validateIp, validateLegacyIp } from '../../validation/ip.ts';
import { immutable } from '../../validation/metadata.ts';
import { dnsLabelProblems, labelKeyProblems, labelValueProblems, nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { portProtocols } from '../core/endpoints.ts';
import { everyVerb } from '../../verbs.ts';
import { repeats } from '../../validation/repeats.ts';

const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_HINTS = 8;
/** Ports or addresses that a column shows. */
const SHOWN = 3;
const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
const ownControllers = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];

function defaults(slice: EndpointSlice): void {
  for (const port of slice.ports ?? []) {
    port.name ??= '';
    port.protocol ??= 'TCP';
  }
}

/** Topology was a field of the beta; what is written to it is dropped. */
function dropTopology(slice: EndpointSlice): void {
  for (const endpoint of slice.endpoints ?? []) delete endpoint.deprecatedTopology;
}

function validateOwnFields({ addressType, ports }: EndpointSlice): FieldError[] {
  const errors: FieldError[] = [];
  if (addressType === '') errors.push(required('addressType'));
  else if (!addressTypes.includes(addressType)) errors.push(notSupported('addressType', addressType, addressTypes));
  return [...errors, ...validatePorts(ports ?? [])];
}

function validatePorts(ports: readonly DiscoveryEndpointPort[]): FieldError[] {
  if (ports.length > MAX_PORTS) return [tooMany('ports', ports.length, MAX_PORTS)];
  const names = new Set<string>();
  return ports.flatMap(({ name = '', protocol, appProtocol }, i) => {
    const field = `ports[${i}]`;
    const errors = name === '' ? [] : dnsLabelProblems(name).map((wrong) => invalid(`${field}.name`, name, wrong));
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
    names.add(name);
    if (protocol === undefined) errors.push(required(`${field}.protocol`));
    else if (!portProtocols.includes(protocol)) errors.push(notSupported(`${field}.protocol`, protocol, portProtocols));
    if (appProtocol !== undefined) errors.push(...labelKeyProblems(appProtocol).map((wrong) => invalid(`${field}.appProtocol`, appProtocol, wrong)));
    return errors;
  });
}

function validateEndpoints({ endpoints, addressType }: EndpointSlice): FieldError[] {
  const all = endpoints ?? [];
  if (all.length > MAX_ENDPOINTS) return [tooMany('endpoints', all.length, MAX_ENDPOINTS)];
  return all.flatMap((endpoint, i) => validateEndpoint(endpoint, `endpoints[${i}]`, addressType));
}

function validateEndpoint({ addresses, nodeName, hostname, hints }: Endpoint, field: string, addressType: string): FieldError[] {
  const all = addresses ?? [];
  const errors: FieldError[] = [];
  if (all.length === 0) errors.push(required(`${field}.addresses`, 'must contain at least 1 address'));
  else if (all.length > MAX_ADDRESSES) errors.push(tooMany(`${field}.addresses`, all.length, MAX_ADDRESSES));
  for (const [i, address] of all.entries()) errors.push(...validateAddress(address, `${field}.addresses`, { index: i, type: addressType }));
  if (nodeName !== undefined) errors.push(...nameIsDnsSubdomain(nodeName, false).map((wrong) => invalid(`${field}.nodeName`, nodeName, wrong)));
  if (hostname !== undefined) errors.push(...dnsLabelProblems(hostname).map((wrong) => invalid(`${field}.hostname`, hostname, wrong)));
  if (hints !== undefined) errors.push(...validateHints(hints, `${field}.hints`));
  return errors;
}

function validateAddress(address: string, field: string, { index, type }: { index: number; type: string }): FieldError[] {
  const at = `${field}[${index}]`;
  if (type === 'FQDN') return validateFullyQualifiedDomainName(address, at);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const errors = type === 'IPv4' ? validateLegacyIp(address, at) : validateIp(address, at);
  if (errors.length > 0) return errors;
  const ip = parseIp(address);
  const fits = ip !== undefined && isIpv4(ip) === (type === 'IPv4');
  return [...(fits ? [] : [invalid(field, address, `must be an ${type} address`)]), ...validateEndpointIp(address, at)];
}

function validateHints({ forZones = [], forNodes = [] }: EndpointHints, field: string): FieldError[] {
  if (forZones.length > MAX_HINTS) return [tooMany(`${field}.forZones`, forZones.length, MAX_HINTS)];
  const errors = validateHintNames(forZones, `${field}.forZones`, labelValueProblems);
  if (forNodes.length > MAX_HINTS) return [...errors, tooMany(`${field}.forNodes`, forNodes.length, MAX_HINTS)];
  return [...errors, ...validateHintNames(forNodes, `${field}.forNodes`, (name) => nameIsDnsSubdomain(name, false))];
}

function validateHintNames(hints: readonly { readonly name: string }[], field: string, problems: (name: string) => string[]): FieldError[] {
  const names = hints.map(({ name }) => name);
  const isRepeated = repeats(names);
  return names.flatMap((name, i) => [
    ...(isRepeated[i] ? [duplicate(`${field}[${i}].name`, name)] : []),
    ...problems(name).map((wrong) => invalid(`${field}[${i}].name`, name, wrong)),
  ]);
}

/** What was accepted once is accepted as long as it stays. */
function validateUpdate(slice: EndpointSlice, old: EndpointSlice): FieldError[] {
  const ofEndpoints = validateEndpoints(slice);
  return [
    ...validateOwnFields(slice),
    ...(ofEndpoints.length > 0 && semanticallyEqual(slice.endpoints, old.endpoints) ? [] : ofEndpoints),
    ...immutable(slice.addressType, old.addressType, 'addressType'),
  ];
}

function warnings(slice: EndpointSlice, old: EndpointSlice | undefined): string[] {
  const found = old === undefined && slice.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  if (ownControllers.includes(slice.metadata.labels?.[MANAGED_BY_LABEL] ?? '')) return found;
  const ofAddresses = (slice.endpoints ?? []).flatMap(({ addresses }, i) =>
    (addresses ?? []).flatMap((address, j) => ipWarnings(address, `endpoints[${i}].addresses[${j}]`)),
  );
  return [...found, ...ofAddresses];
}

function firstFew(all: readonly string[]): string {
  const shown = all.slice(0, SHOWN).join(',');
  return all.length > SHOWN ? `${shown} + ${all.length - SHOWN} more...` : shown || '<unset>';
}

export const endpointSliceKind: Kind<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  singular: 'endpointslice',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'EndpointSlice',
  storage: { resource: 'discovery.k8s.io/endpointslices' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate: dropTopology,
  prepareForUpdate: dropTopology,
  validate: (slice) => [...validateOwnFields(slice), ...validateEndpoints(slice)],
  validateUpdate,
  checks: { update: ['metadata', 'change'] },
  warnings,
  hasGeneration: true,
  generationAlsoGrows: (slice, old) => !semanticallyEqual(slice.metadata.labels, old.metadata.labels),
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('AddressType', (slice) => slice.addressType),
    textColumn('Ports', (slice) => firstFew((slice.ports ?? []).map(({ port, name }) => String(port ?? name ?? '*')))),
    textColumn('Endpoints', (slice) => firstFew((slice.endpoints ?? []).flatMap(({ addresses }) => addresses ?? []))),
    ageColumn,
  ],
};
