import { type FieldError, invalid } from '../../field-error.ts';
import type { Lease } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

/** Coordinated leader election is a feature that is off: its fields are dropped. */
function dropCoordination({ spec }: Lease): void {
  delete spec.strategy;
  delete spec.preferredHolder;
}

function validate({ spec: { leaseDurationSeconds = 1, leaseTransitions = 0 } }: Lease): FieldError[] {
  return [
    ...(leaseDurationSeconds > 0 ? [] : [invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0')]),
    ...(leaseTransitions >= 0 ? [] : [invalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0')]),
  ];
}

export const leaseKind: Kind<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'Lease',
  storage: { resource: 'coordination.k8s.io/leases' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  prepareForCreate: dropCoordination,
  prepareForUpdate: dropCoordination,
  validate,
  checks: { update: ['metadataChange', 'object'] },
  looseFinalizers: true,
  hasGeneration: false,
  createOnUpdate: true,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [nameColumn, textColumn('Holder', (lease) => lease.spec.holderIdentity ?? ''), ageColumn],
};
