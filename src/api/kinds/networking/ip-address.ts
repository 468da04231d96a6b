import { type FieldError, required } from '../../field-error.ts';
import type { IPAddress, ParentReference } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { invalidEach } from '../../validation/field-rules.ts';
import { validateIp } from '../../validation/ip.ts';
import { immutable } from '../../validation/metadata.ts';
import { dnsSubdomainProblems, pathSegmentProblems } from '../../validation/names.ts';
import { nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

/** The name of an IPAddress is the address. */
const validateName = (name: string): string[] => validateIp(name, '').map(({ detail }) => detail);

function validate({ spec: { parentRef } }: IPAddress): FieldError[] {
  return parentRef === undefined ? [required('spec.parentRef')] : validateParent(parentRef, 'spec.parentRef');
}

function validateParent({ group = '', resource = '', namespace = '', name = '' }: ParentReference, field: string): FieldError[] {
  const segment = (value: string, at: string): FieldError[] => invalidEach(at, value, pathSegmentProblems(value, false));
  return [
    ...(group === '' ? [] : invalidEach(`${field}.group`, group, dnsSubdomainProblems(group))),
    ...(resource === '' ? [required(`${field}.resource`)] : segment(resource, `${field}.resource`)),
    ...(name === '' ? [required(`${field}.name`)] : segment(name, `${field}.name`)),
    ...(namespace === '' ? [] : segment(namespace, `${field}.namespace`)),
  ];
}

function parentCell({ spec: { parentRef } }: IPAddress): string {
  if (parentRef === undefined) return '<none>';
  const { group = '', resource = '', namespace = '', name = '' } = parentRef;
  const qualified = (group === '' ? resource : `${resource}.${group}`).toLowerCase();
  return [qualified, ...(namespace === '' ? [] : [namespace]), name].join('/');
}

/** An address that is in use: those of Services are written with them (apiserver/objects/service-addresses.ts). */
export const ipAddressKind: Kind<IPAddress> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  singular: 'ipaddress',
  shortNames: ['ip'],
  categories: [],
  namespaced: false,
  type: 'IPAddress',
  storage: { resource: 'networking.k8s.io/ipaddresses' },
  verbs: everyVerb,
  validateName,
  validate,
  validateUpdate: ({ spec }, old) => immutable(spec.parentRef, old.spec.parentRef, 'spec.parentRef'),
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, textColumn('ParentRef', parentCell)],
};
