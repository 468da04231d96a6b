import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { everyVerb } from '../../verbs.ts';

export const admissionGroup = 'admissionregistration.k8s.io';

/** What all configurations of admission have in common. */
export const admissionKind = (kind: string, plural: string) =>
  ({
    group: admissionGroup,
    version: 'v1',
    kind,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: ['api-extensions'],
    namespaced: false,
    type: kind,
    storage: { resource: `${admissionGroup}/${plural}` },
    verbs: everyVerb,
    validateName: nameIsDnsSubdomain,
    // Whatever is written is checked as a whole, and once: some of what is wrong may stay.
    checks: { update: ['metadataChange', 'metadata', 'change'] },
    hasGeneration: true,
    unconditionalUpdate: false,
    selectableFields: {},
  }) as const;
