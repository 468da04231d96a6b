/** snapshot.storage.k8s.io/v1: snapshots, their contents and their classes (external-snapshotter v8.6, client/config/crd). */
import type { ObjectMeta, ObjectReference } from '../../generated/types.ts';
import type { Kind } from '../../kind.ts';
import {
  ageColumn,
  amount,
  classColumns,
  classSchema,
  column,
  deletionPolicy,
  errorSchema,
  exactlyOneOf,
  flag,
  immutable,
  keptOnceSet,
  notEmpty,
  object,
  predefine,
  preferredKind,
  referenceSchema,
  text,
  time,
  topLevel,
} from './schemas.ts';

export const snapshotGroup = 'snapshot.storage.k8s.io';

export interface SnapshotError {
  readonly message?: string;
  readonly time?: string;
}

/** A user's request for a snapshot of a claim, or for one that exists already. */
export interface VolumeSnapshot {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: {
    readonly source: { readonly persistentVolumeClaimName?: string; readonly volumeSnapshotContentName?: string };
    readonly volumeSnapshotClassName?: string;
  };
  status?: VolumeSnapshotStatus;
}

export interface VolumeSnapshotStatus {
  readonly boundVolumeSnapshotContentName?: string;
  readonly creationTime?: string;
  readonly readyToUse?: boolean;
  readonly restoreSize?: string | number;
  readonly error?: SnapshotError;
  readonly volumeGroupSnapshotName?: string;
}

/** A snapshot in a storage system. */
export interface VolumeSnapshotContent {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: {
    readonly deletionPolicy: string;
    readonly driver: string;
    readonly source: { readonly snapshotHandle?: string; readonly volumeHandle?: string };
    readonly sourceVolumeMode?: string;
    readonly volumeSnapshotClassName?: string;
    readonly volumeSnapshotRef: ObjectReference;
  };
  status?: VolumeSnapshotContentStatus;
}

export interface VolumeSnapshotContentStatus {
  readonly snapshotHandle?: string;
  /** Nanoseconds since 1970. */
  readonly creationTime?: number;
  /** Bytes. */
  readonly restoreSize?: number;
  readonly readyToUse?: boolean;
  readonly error?: SnapshotError;
  readonly volumeGroupSnapshotHandle?: string;
}

/** Also the shape of a VolumeGroupSnapshotClass. */
export interface VolumeSnapshotClass {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  driver: string;
  deletionPolicy: string;
  parameters?: Readonly<Record<string, string>>;
}

const snapshotSource = object({
  description: 'What the snapshot is taken of, or the content that exists already.',
  properties: {
    persistentVolumeClaimName: text('A claim of the same namespace: a snapshot of its volume is taken.', immutable('persistentVolumeClaimName')),
    volumeSnapshotContentName: text('A VolumeSnapshotContent that an administrator created.', immutable('volumeSnapshotContentName')),
  },
  rules: [
    keptOnceSet('persistentVolumeClaimName'),
    keptOnceSet('volumeSnapshotContentName'),
    exactlyOneOf('volumeSnapshotContentName', 'persistentVolumeClaimName'),
  ],
});

export const volumeSnapshotDefinition = predefine({
  group: snapshotGroup,
  versions: ['v1'],
  names: { plural: 'volumesnapshots', singular: 'volumesnapshot', kind: 'VolumeSnapshot', shortNames: ['vs'] },
  namespaced: true,
  hasStatus: true,
  columns: [
    column('ReadyToUse', 'boolean', '.status.readyToUse'),
    column('SourcePVC', 'string', '.spec.source.persistentVolumeClaimName'),
    column('SourceSnapshotContent', 'string', '.spec.source.volumeSnapshotContentName'),
    column('RestoreSize', 'string', '.status.restoreSize'),
    column('SnapshotClass', 'string', '.spec.volumeSnapshotClassName'),
    column('SnapshotContent', 'string', '.status.boundVolumeSnapshotContentName'),
    column('CreationTime', 'date', '.status.creationTime'),
    ageColumn,
  ],
  schema: topLevel(
    'A request for a snapshot of a volume.',
    {
      spec: object({
        properties: {
          source: snapshotSource,
          volumeSnapshotClassName: text('The VolumeSnapshotClass. Unset: the default class of the driver.', notEmpty('volumeSnapshotClassName')),
        },
        required: ['source'],
      }),
      status: object({
        properties: {
          boundVolumeSnapshotContentName: text('The VolumeSnapshotContent that this snapshot is bound to.'),
          creationTime: time('When the storage system took the snapshot.'),
          error: errorSchema,
          readyToUse: flag('A volume can be restored from it.'),
          restoreSize: {
            type: 'string',
            description: 'The smallest size of a volume that is restored from it.',
            pattern: String.raw`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`,
            'x-kubernetes-int-or-string': true,
          },
          volumeGroupSnapshotName: text('The VolumeGroupSnapshot that it was taken with.'),
        },
      }),
    },
    ['spec'],
  ),
});

const bothSet = {
  rule: 'has(self.name) && has(self.__namespace__)',
  message: 'both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set',
};

export const volumeSnapshotContentDefinition = predefine({
  group: snapshotGroup,
  versions: ['v1'],
  names: { plural: 'volumesnapshotcontents', singular: 'volumesnapshotcontent', kind: 'VolumeSnapshotContent', shortNames: ['vsc', 'vscs'] },
  namespaced: false,
  hasStatus: true,
  columns: [
    column('ReadyToUse', 'boolean', '.status.readyToUse'),
    column('RestoreSize', 'integer', '.status.restoreSize'),
    column('DeletionPolicy', 'string', '.spec.deletionPolicy'),
    column('Driver', 'string', '.spec.driver'),
    column('VolumeSnapshotClass', 'string', '.spec.volumeSnapshotClassName'),
    column('VolumeSnapshot', 'string', '.spec.volumeSnapshotRef.name'),
    column('VolumeSnapshotNamespace', 'string', '.spec.volumeSnapshotRef.namespace'),
    ageColumn,
  ],
  schema: topLevel(
    'A snapshot in a storage system.',
    {
      spec: object({
        properties: {
          deletionPolicy: deletionPolicy(),
          driver: text('The CSI driver that took the snapshot.'),
          source: object({
            description: 'The volume to take a snapshot of, or a snapshot that exists already.',
            properties: {
              snapshotHandle: text("The driver's own id of a snapshot that exists.", immutable('snapshotHandle')),
              volumeHandle: text("The driver's own id of the volume.", immutable('volumeHandle')),
            },
            rules: [keptOnceSet('volumeHandle'), keptOnceSet('snapshotHandle'), exactlyOneOf('volumeHandle', 'snapshotHandle')],
          }),
          sourceVolumeMode: text('The mode of the volume: Filesystem or Block.', immutable('sourceVolumeMode')),
          volumeSnapshotClassName: text('The VolumeSnapshotClass it was taken with.'),
          volumeSnapshotRef: referenceSchema([bothSet]),
        },
        required: ['deletionPolicy', 'driver', 'source', 'volumeSnapshotRef'],
        rules: [keptOnceSet('sourceVolumeMode')],
      }),
      status: object({
        properties: {
          creationTime: amount('When the storage system took it: nanoseconds since 1970.'),
          error: errorSchema,
          readyToUse: flag('A volume can be restored from it.'),
          restoreSize: amount('Its size in bytes.', 0),
          snapshotHandle: text("The driver's own id of it."),
          volumeGroupSnapshotHandle: text("The driver's own id of the group that it was taken with."),
        },
      }),
    },
    ['spec'],
  ),
});

export const volumeSnapshotClassDefinition = predefine({
  group: snapshotGroup,
  versions: ['v1'],
  names: { plural: 'volumesnapshotclasses', singular: 'volumesnapshotclass', kind: 'VolumeSnapshotClass', shortNames: ['vsclass', 'vsclasses'] },
  namespaced: false,
  hasStatus: false,
  columns: classColumns,
  schema: classSchema('Which driver takes snapshots, and with which parameters.'),
});

export const volumeSnapshotKind: Kind<VolumeSnapshot> = preferredKind(volumeSnapshotDefinition);
export const volumeSnapshotContentKind: Kind<VolumeSnapshotContent> = preferredKind(volumeSnapshotContentDefinition);
export const volumeSnapshotClassKind: Kind<VolumeSnapshotClass> = preferredKind(volumeSnapshotClassDefinition);
