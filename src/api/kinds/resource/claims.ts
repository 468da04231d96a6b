import type { ResourceClaimTemplate, ResourceResourceClaim } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { validateTemplateMetadata } from '../../validation/claim-template.ts';
import { immutable } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';
import { setClaimDefaults, validateClaimSpec } from './claim-spec.ts';
import { validateClaimStatus } from './claim-status.ts';

function stateCell({ metadata, status }: ResourceResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ['deleted'] : [];
  if (status.allocation === undefined) return (isDeleted ? states : ['pending']).join(',');
  return [...states, 'allocated', ...((status.reservedFor ?? []).length > 0 ? ['reserved'] : [])].join(',');
}

/** Devices that pods share. Stored and served for drivers: Mooring's scheduler allocates none. */
export const resourceClaimKind: Kind<ResourceResourceClaim> = {
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaim',
  plural: 'resourceclaims',
  singular: 'resourceclaim',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'ResourceResourceClaim',
  storage: { resource: 'resource.k8s.io/resourceclaims' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: ({ spec }) => setClaimDefaults(spec),
  prepareForCreate: (claim) => {
    claim.status = {};
  },
  validate: ({ spec }) => validateClaimSpec(spec, 'spec'),
  validateUpdate: ({ spec }, old) => immutable(spec, old.spec, 'spec'),
  checks: { update: ['metadata', 'metadataChange', 'change'] },
  status: { validateUpdate: validateClaimStatus },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, textColumn('State', stateCell), ageColumn],
};

/** What the claims of a pod are made from. */
export const resourceClaimTemplateKind: Kind<ResourceClaimTemplate> = {
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaimTemplate',
  plural: 'resourceclaimtemplates',
  singular: 'resourceclaimtemplate',
  shortNames: [],
  categories: [],
  namespaced: true,
  type: 'ResourceClaimTemplate',
  storage: { resource: 'resource.k8s.io/resourceclaimtemplates' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults: ({ spec }) => setClaimDefaults(spec.spec),
  validate: ({ spec }) => [...validateTemplateMetadata(spec.metadata, 'spec.metadata'), ...validateClaimSpec(spec.spec, 'spec.spec')],
  validateUpdate: ({ spec }, old) => immutable(spec, old.spec, 'spec'),
  checks: { update: ['metadataChange', 'change'] },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, ageColumn],
};
