import { type FieldError, forbidden, invalid, required } from '../../field-error.ts';
import type { NodeSelectorRequirement, PersistentVolume, PersistentVolumeSource, PersistentVolumeSpec, VolumeNodeAffinity } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import { semanticallyEqual } from '../../validation/equality.ts';
import { goDiff } from '../../validation/go-diff.ts';
import { goForm } from '../../validation/go-form.ts';
import { IMMUTABLE, immutable } from '../../validation/metadata.ts';
import { nameIsDnsSubdomain } from '../../validation/names.ts';
import { sourceNames } from '../../validation/persistent-volume-sources.ts';
import { validatePersistentVolumeSpec } from '../../validation/persistent-volume-spec.ts';
import { accessModes, ageColumn, nameColumn, textColumn, wideColumn } from '../../printer-columns.ts';
import { nodeSelectorTermWarnings } from '../deprecated-node-labels.ts';
import { timestamp } from '../timestamps.ts';
import { everyVerb } from '../../verbs.ts';
import { defaultVolumeSources } from './volume-source-defaults.ts';

export const BETA_STORAGE_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const MOUNT_OPTIONS_ANNOTATION = 'volume.beta.kubernetes.io/mount-options';

/** Sources whose volumes are mounted with options, also by annotation. */
const mountable: readonly (keyof PersistentVolumeSource)[] = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
];

/** Labels of nodes that an affinity may still exchange for their successors. */
const successors: ReadonlyMap<string, string> = new Map([
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['beta.kubernetes.io/os', 'kubernetes.io/os'],
  ['beta.kubernetes.io/arch', 'kubernetes.io/arch'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
]);

const withoutFunction: readonly (readonly [keyof PersistentVolumeSource, field: string, message: string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function defaults(volume: PersistentVolume): void {
  volume.status.phase ??= 'Pending';
  volume.spec.persistentVolumeReclaimPolicy ??= 'Retain';
  volume.spec.volumeMode ??= 'Filesystem';
  defaultVolumeSources(volume.spec);
}

function validate(volume: PersistentVolume): FieldError[] {
  return [...validatePersistentVolumeSpec(volume.spec, 'spec', { name: volume.metadata.name ?? '', inline: false }), ...validateMountOptionsAnnotation(volume)];
}

function validateMountOptionsAnnotation(volume: PersistentVolume): FieldError[] {
  const given = Object.hasOwn(volume.metadata.annotations ?? {}, MOUNT_OPTIONS_ANNOTATION);
  if (!given || mountable.some((source) => volume.spec[source] !== undefined)) return [];
  return [forbidden(`metadata.annotations.${MOUNT_OPTIONS_ANNOTATION}`, 'may not specify mount options for this volume type')];
}

/** Kubernetes looks at the whole spec once more before it compares it with the old one. */
function validateUpdate(volume: PersistentVolume, old: PersistentVolume): FieldError[] {
  return [
    ...validatePersistentVolumeSpec(volume.spec, 'spec', { name: volume.metadata.name ?? '', inline: false }),
    ...validateSourceChange(volume.spec, old.spec),
    ...immutable(volume.spec.volumeMode, old.spec.volumeMode, 'volumeMode'),
    ...validateAffinityChange(volume.spec.nodeAffinity, old.spec.nodeAffinity),
    ...(old.spec.volumeAttributesClassName !== undefined && volume.spec.volumeAttributesClassName === undefined
      ? [forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
      : []),
  ];
}

/** A volume's source is fixed, but for a secret that the driver needs to expand it and that was not set before. */
function validateSourceChange(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): FieldError[] {
  const before = sourceOf(old);
  const after = sourceOf(spec);
  if (before.csi !== undefined && before.csi.controllerExpandSecretRef === undefined && after.csi !== undefined) {
    const { controllerExpandSecretRef: _, ...csi } = after.csi;
    after.csi = csi;
  }
  if (semanticallyEqual(after, before)) return [];
  const difference = goDiff('PersistentVolumeSource', before, after);
  return [forbidden('spec.persistentvolumesource', `spec.persistentvolumesource is immutable after creation\n${difference}`)];
}

const sourceOf = (spec: PersistentVolumeSpec): PersistentVolumeSource =>
  Object.fromEntries(sourceNames.filter((name) => spec[name] !== undefined).map((name) => [name, spec[name]]));

/** nodeAffinity can be set once; afterwards only deprecated labels may be replaced by their successors. */
function validateAffinityChange(affinity: VolumeNodeAffinity | undefined, old: VolumeNodeAffinity | undefined): FieldError[] {
  if (old === undefined || semanticallyEqual(affinity, old)) return [];
  if (affinity !== undefined && semanticallyEqual(withSuccessors(affinity, affinity), withSuccessors(old, affinity))) return [];
  const value = affinity === undefined ? null : goForm('VolumeNodeAffinity', affinity);
  return [invalid('nodeAffinity', value, `${IMMUTABLE}, except for updating from beta label to GA`)];
}

/** The affinity with the keys that `renamed` has instead of old ones at the same places. */
function withSuccessors(affinity: VolumeNodeAffinity, renamed: VolumeNodeAffinity): VolumeNodeAffinity {
  const terms = (affinity.required?.nodeSelectorTerms ?? []).map((term, i) => {
    const other = renamed.required?.nodeSelectorTerms?.[i];
    const rename = (requirements: NodeSelectorRequirement[] | undefined, others: NodeSelectorRequirement[] | undefined): NodeSelectorRequirement[] =>
      (requirements ?? []).map((requirement, j) => {
        const key = others?.[j]?.key;
        return key !== undefined && successors.get(requirement.key) === key ? { ...requirement, key } : requirement;
      });
    return { matchExpressions: rename(term.matchExpressions, other?.matchExpressions), matchFields: rename(term.matchFields, other?.matchFields) };
  });
  return affinity.required === undefined ? {} : { required: { nodeSelectorTerms: terms } };
}

function warnings(volume: PersistentVolume): string[] {
  const { spec } = volume;
  const annotations = volume.metadata.annotations ?? {};
  const found: string[] = [];
  const deprecatedAnnotation = (key: string, message: string): void => {
    if (Object.hasOwn(annotations, key)) found.push(`metadata.annotations[${key}]: ${message}`);
  };
  deprecatedAnnotation(BETA_STORAGE_CLASS_ANNOTATION, 'deprecated since v1.8; use "storageClassName" attribute instead');
  deprecatedAnnotation(MOUNT_OPTIONS_ANNOTATION, 'deprecated since v1.31; use "mountOptions" attribute instead');
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    const message = 'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
    found.push(`spec.persistentVolumeReclaimPolicy: ${message}`);
  }
  for (const [i, term] of (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
    found.push(...nodeSelectorTermWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`));
  }
  for (const [source, field, message] of withoutFunction) if (spec[source] !== undefined) found.push(`spec.${field}: ${message}`);
  return found;
}

/** The server sets lastPhaseTransitionTime, unless the writer of the phase set one. */
function prepareStatusUpdate(volume: PersistentVolume, old: PersistentVolume, now: number): void {
  const { status } = volume;
  const before = old.status.lastPhaseTransitionTime;
  if (status.phase !== old.status.phase) {
    if (status.lastPhaseTransitionTime === undefined || status.lastPhaseTransitionTime === before) status.lastPhaseTransitionTime = timestamp(now);
  } else if (status.lastPhaseTransitionTime === undefined && before !== undefined) status.lastPhaseTransitionTime = before;
}

export const persistentVolumeKind: Kind<PersistentVolume> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  singular: 'persistentvolume',
  shortNames: ['pv'],
  categories: [],
  namespaced: false,
  type: 'PersistentVolume',
  storage: { resource: 'persistentvolumes' },
  verbs: everyVerb,
  validateName: nameIsDnsSubdomain,
  defaults,
  prepareForCreate: (volume, now) => {
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: timestamp(now) };
  },
  validate,
  validateUpdate,
  checks: { update: ['metadata', 'object', 'metadata', 'change'] },
  warnings,
  status: {
    prepareForUpdate: prepareStatusUpdate,
    validateUpdate: (volume) => ((volume.metadata.resourceVersion ?? '') === '' ? [required('resourceVersion')] : []),
  },
  hasGeneration: false,
  unconditionalUpdate: true,
  selectableFields: {},
  columns: [
    nameColumn,
    textColumn('Capacity', (volume) => volume.spec.capacity?.storage ?? '0'),
    textColumn('Access Modes', (volume) => accessModes(volume.spec.accessModes)),
    textColumn('Reclaim Policy', (volume) => volume.spec.persistentVolumeReclaimPolicy ?? ''),
    textColumn('Status', (volume) => (volume.metadata.deletionTimestamp === undefined ? (volume.status.phase ?? '') : 'Terminating')),
    textColumn('Claim', ({ spec: { claimRef } }) => (claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`)),
    textColumn('StorageClass', (volume) => volume.metadata.annotations?.[BETA_STORAGE_CLASS_ANNOTATION] ?? volume.spec.storageClassName ?? ''),
    textColumn('VolumeAttributesClass', (volume) => volume.spec.volumeAttributesClassName ?? '<unset>'),
    textColumn('Reason', (volume) => volume.status.reason ?? ''),
    ageColumn,
    wideColumn('VolumeMode', (volume) => volume.spec.volumeMode ?? '<unset>'),
  ],
};
