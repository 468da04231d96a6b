import { duplicate, type FieldError, invalid, notOneOf, notSupported, required } from '../../field-error.ts';
import type { CSIDriver, CSIDriverSpec, StorageTokenRequest } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { immutable } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { ageColumn, booleanColumn, nameColumn, textColumn } from '../../printer-columns.ts';
import { everyVerb } from '../../verbs.ts';

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const MIN_UPDATE_PERIOD_SECONDS = 10;
const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];

function defaults({ spec }: CSIDriver): void {
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
  if (spec.volumeLifecycleModes === undefined || spec.volumeLifecycleModes.length === 0) spec.volumeLifecycleModes = ['Persistent'];
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
}

/** Scaling volume limits is a feature that is off: its field is dropped. */
function dropPreventPodScheduling({ spec }: CSIDriver): void {
  delete spec.preventPodSchedulingIfMissing;
}

function validateSpec(spec: CSIDriverSpec, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.attachRequired === undefined) errors.push(required(`${field}.attachedRequired`));
  if (spec.podInfoOnMount === undefined) errors.push(required(`${field}.podInfoOnMount`));
  if (spec.storageCapacity === undefined) errors.push(required(`${field}.storageCapacity`));
  if (spec.fsGroupPolicy !== undefined && !fsGroupPolicies.includes(spec.fsGroupPolicy)) {
    errors.push(notSupported(`${field}.fsGroupPolicy`, spec.fsGroupPolicy, fsGroupPolicies));
  }
  errors.push(...validateTokenRequests(spec.tokenRequests ?? [], `${field}.tokenRequests`));
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!lifecycleModes.includes(mode)) errors.push(notOneOf(`${field}.volumeLifecycleModes`, mode, lifecycleModes));
  }
  if (spec.seLinuxMount === undefined) errors.push(required(`${field}.seLinuxMount`));
  const period = spec.nodeAllocatableUpdatePeriodSeconds;
  if (period !== undefined && period < MIN_UPDATE_PERIOD_SECONDS) {
    errors.push(invalid(`${field}.nodeAllocatableUpdatePeriodSeconds`, period, 'must be greater than or equal to 10 seconds'));
  }
  if (spec.serviceAccountTokenInSecrets !== undefined && (spec.tokenRequests ?? []).length === 0) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
    errors.push(invalid(`${field}.serviceAccountTokenInSecrets`, spec.serviceAccountTokenInSecrets, detail));
  }
  return errors;
}

/** One token per audience, and none for too short or too long a time. */
function validateTokenRequests(requests: readonly StorageTokenRequest[], field: string): FieldError[] {
  const audiences = new Set<string>();
  return requests.flatMap(({ audience, expirationSeconds }, i) => {
    if (audiences.has(audience)) return [duplicate(`${field}[${i}].audience`, audience)];
    audiences.add(audience);
    const at = `${field}[${i}].expirationSeconds`;
    if (expirationSeconds === undefined) return [];
    if (expirationSeconds < MIN_TOKEN_SECONDS) return [invalid(at, expirationSeconds, 'may not specify a duration less than 10 minutes')];
    return expirationSeconds > MAX_TOKEN_SECONDS ? [invalid(at, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')] : [];
  });
}

function validateUpdate(driver: CSIDriver, old: CSIDriver): FieldError[] {
  return [
    ...validateSpec(driver.spec, 'spec'),
    ...immutable(driver.spec.attachRequired, old.spec.attachRequired, 'spec.attachedRequired'),
    ...immutable(driver.spec.volumeLifecycleModes, old.spec.volumeLifecycleModes, 'spec.volumeLifecycleModes'),
  ];
}

function warnings({ spec }: CSIDriver, old: CSIDriver | undefined): string[] {
  const requests = spec.tokenRequests ?? [];
  if (requests.length === 0 || spec.serviceAccountTokenInSecrets !== undefined) return [];
  if (old !== undefined && semanticallyEqual(requests, old.spec.tokenRequests)) return [];
  const advice = 'if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';
  return [`spec.serviceAccountTokenInSecrets is unset; ${advice}`];
}

export const csiDriverKind: Kind<CSIDriver> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  singular: 'csidriver',
  shortNames: [],
  categories: [],
  namespaced: false,
  type: 'CSIDriver',
  storage: { resource: 'storage.k8s.io/csidrivers' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate: dropPreventPodScheduling,
  prepareForUpdate: (driver, old) => {
    dropPreventPodScheduling(driver);
    // A driver has no generation until its spec changes for the first time.
    if (!semanticallyEqual(driver.spec, old.spec)) driver.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validate: (driver) => validateSpec(driver.spec, 'spec'),
  validateUpdate,
  checks: { update: ['metadataChange', 'change'] },
  warnings,
  hasGeneration: false,
  unconditionalUpdate: false,
  selectableFields: {},
  columns: [
    nameColumn,
    booleanColumn('AttachRequired', (driver) => driver.spec.attachRequired ?? true),
    booleanColumn('PodInfoOnMount', (driver) => driver.spec.podInfoOnMount ?? false),
    booleanColumn('StorageCapacity', (driver) => driver.spec.storageCapacity ?? false),
    textColumn('TokenRequests', (driver) => driver.spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? '<unset>'),
    booleanColumn('RequiresRepublish', (driver) => driver.spec.requiresRepublish ?? false),
    textColumn('Modes', (driver) => driver.spec.volumeLifecycleModes?.join(',') || '<none>'),
    ageColumn,
  ],
};
