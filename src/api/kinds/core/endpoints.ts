import { type FieldError, invalid, notSupported, required } from '../../field-error.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateEndpointIp } from '../../validation/endpoint-ip.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { portNumberProblems } from '../../validation/formats.ts';
import { ipWarnings, validateLegacyIp } from '../../validation/ip.ts';
import { dnsLabelProblems, labelKeyProblems, nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

export const portProtocols = ['SCTP', 'TCP', 'UDP'];
const MANAGED_BY_LABEL = 'endpoints.kubernetes.io/managed-by';
/** Addresses that a column shows. */
const SHOWN = 3;

function defaults(endpoints: Endpoints): void {
  for (const subset of endpoints.subsets ?? []) for (const port of subset.ports ?? []) port.protocol ??= 'TCP';
}

function validateSubsets(subsets: readonly EndpointSubset[]): FieldError[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }, i) => {
    const field = `subsets[${i}]`;
    const none = addresses.length === 0 && notReadyAddresses.length === 0;
    return [
      ...(none ? [required(field, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...addresses.flatMap((address, j) => validateAddress(address, `${field}.addresses[${j}]`)),
      ...notReadyAddresses.flatMap((address, j) => validateAddress(address, `${field}.notReadyAddresses[${j}]`)),
      ...ports.flatMap((port, j) => validatePort(port, `${field}.ports[${j}]`, ports.length > 1)),
    ];
  });
}

function validateAddress({ ip, hostname = '', nodeName }: EndpointAddress, field: string): FieldError[] {
  return [
    ...validateLegacyIp(ip, `${field}.ip`),
    ...(hostname === '' ? [] : dnsLabelProblems(hostname).map((wrong) => invalid(`${field}.hostname`, hostname, wrong))),
    ...(nodeName === undefined ? [] : nameIsDnsSubdomain(nodeName, false).map((wrong) => invalid(`${field}.nodeName`, nodeName, wrong))),
    ...validateEndpointIp(ip, `${field}.ip`),
  ];
}

function validatePort({ name = '', port, protocol = '', appProtocol }: EndpointPort, field: string, needsName: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (name !== '') errors.push(...dnsLabelProblems(name).map((wrong) => invalid(`${field}.name`, name, wrong)));
  else if (needsName) errors.push(required(`${field}.name`));
  errors.push(...portNumberProblems(port).map((wrong) => invalid(`${field}.port`, port, wrong)));
  if (protocol === '') errors.push(required(`${field}.protocol`));
  else if (!portProtocols.includes(protocol)) errors.push(notSupported(`${field}.protocol`, protocol, portProtocols));
  if (appProtocol !== undefined) errors.push(...labelKeyProblems(appProtocol).map((wrong) => invalid(`${field}.appProtocol`, appProtocol, wrong)));
  return errors;
}

/** What was accepted once is accepted as long as it stays. */
function validateUpdate(endpoints: Endpoints, old: Endpoints): FieldError[] {
  const errors = validateSubsets(endpoints.subsets ?? []);
  return errors.length > 0 && semanticallyEqual(endpoints.subsets, old.subsets) ? [] : errors;
}

function warnings(endpoints: Endpoints): string[] {
  if (endpoints.metadata.labels?.[MANAGED_BY_LABEL] === 'endpoint-controller') return [];
  return (endpoints.subsets ?? []).flatMap((subset, i) =>
    (['addresses', 'notReadyAddresses'] as const).flatMap((list) =>
      (subset[list] ?? []).flatMap(({ ip }, j) => ipWarnings(ip, `subsets[${i}].${list}[${j}].ip`)),
    ),
  );
}

function summary(endpoints: Endpoints): string {
  const subsets = endpoints.subsets ?? [];
  if (subsets.length === 0) return '<none>';
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0 ? addresses.map(({ ip }) => ip) : ports.flatMap(({ port }) => addresses.map(({ ip }) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`)),
  );
  const shown = all.slice(0, SHOWN).join(',');
  return all.length > SHOWN ? `${shown} + ${all.length - SHOWN} more...` : shown;
}

export const endpointsKind: Kind<Endpoints> = {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  categories: [],
  namespaced: true,
  type: 'Endpoints',
  storage: { resource: 'endpoints' },
  verbs: everyVerb,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  validateName: nameIsDnsSubdomain,
  defaults,
  validate: (endpoints) => validateSubsets(endpoints.subsets ?? []),
  validateUpdate,
  checks: { update: ['metadataChange', 'metadata', 'change'] },
  warnings,
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, textColumn('Endpoints', summary), ageColumn],
};
