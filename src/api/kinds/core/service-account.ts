import type { ServiceAccount } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, nameColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

const MOUNTABLE_SECRETS_ANNOTATION = 'kubernetes.io/enforce-mountable-secrets';

/** Of a reference to a secret only the name is kept. */
function keepNames(account: ServiceAccount): void {
  if (account.secrets !== undefined) account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}

function warnings(account: ServiceAccount, old: ServiceAccount | undefined): string[] {
  const has = (one: ServiceAccount | undefined): boolean => Object.hasOwn(one?.metadata.annotations ?? {}, MOUNTABLE_SECRETS_ANNOTATION);
  if (!has(account) || has(old)) return [];
  const advice = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets';
  return [`metadata.annotations[${MOUNTABLE_SECRETS_ANNOTATION}]: ${advice}`];
}

export const serviceAccountKind: Kind<ServiceAccount> = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  categories: [],
  namespaced: true,
  type: 'ServiceAccount',
  storage: { resource: 'serviceaccounts' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  prepareForCreate: keepNames,
  prepareForUpdate: keepNames,
  checks: { update: ['metadataChange', 'metadata'] },
  warnings,
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [nameColumn, ageColumn],
};
