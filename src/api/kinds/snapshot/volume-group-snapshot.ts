/** groupsnapshot.storage.k8s.io: snapshots of several volumes at one moment (external-snapshotter v8.6, client/config/crd). */
import type { LabelSelector, ObjectMeta, ObjectReference } from '../../generated/types.ts';
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
  immutableOnceSet,
  keptOnceSet,
  list,
  notEmpty,
  object,
  predefine,
  preferredKind,
  referenceSchema,
  text,
  time,
  topLevel,
} from './schemas.ts';
import type { SnapshotError, VolumeSnapshotClass } from './volume-snapshot.ts';

export const groupSnapshotGroup = 'groupsnapshot.storage.k8s.io';

/** As upstream: v1 is preferred, v1beta2 is stored, and both are the same. */
const versions = ['v1', 'v1beta2'];

/** A user's request for snapshots of several claims at one moment. */
export interface VolumeGroupSnapshot {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: {
    readonly source: { readonly selector?: LabelSelector; readonly volumeGroupSnapshotContentName?: string };
    readonly volumeGroupSnapshotClassName?: string;
  };
  status?: VolumeGroupSnapshotStatus;
}

export interface VolumeGroupSnapshotStatus {
  readonly boundVolumeGroupSnapshotContentName?: string;
  readonly creationTime?: string;
  readonly readyToUse?: boolean;
  readonly error?: SnapshotError;
}

export interface VolumeGroupSnapshotContent {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: {
    readonly deletionPolicy: string;
    readonly driver: string;
    readonly source: {
      readonly volumeHandles?: readonly string[];
      readonly groupSnapshotHandles?: { readonly volumeGroupSnapshotHandle: string; readonly volumeSnapshotHandles: readonly string[] };
    };
    readonly volumeGroupSnapshotClassName?: string;
    readonly volumeGroupSnapshotRef: ObjectReference;
  };
  status?: VolumeGroupSnapshotContentStatus;
}

export interface VolumeGroupSnapshotContentStatus {
  readonly volumeGroupSnapshotHandle?: string;
  readonly creationTime?: string;
  readonly readyToUse?: boolean;
  readonly error?: SnapshotError;
  readonly volumeSnapshotInfoList?: readonly VolumeSnapshotInfo[];
}

/** One member of a group, as the driver reported it. */
export interface VolumeSnapshotInfo {
  readonly volumeHandle?: string;
  readonly snapshotHandle?: string;
  /** Nanoseconds since 1970. */
  readonly creationTime?: number;
  readonly readyToUse?: boolean;
  readonly restoreSize?: number;
}

const strings = (description: string): ReturnType<typeof list> => list({ type: 'string' }, description);

const selector = object({
  description: 'The claims of the same namespace that have these labels.',
  properties: {
    matchExpressions: {
      ...list(
        object({
          properties: {
            key: text('The key of the label.'),
            operator: text('In, NotIn, Exists or DoesNotExist.'),
            values: { ...strings('The values of the label.'), 'x-kubernetes-list-type': 'atomic' },
          },
          required: ['key', 'operator'],
        }),
        'Expressions that all hold.',
      ),
      'x-kubernetes-list-type': 'atomic',
    },
    matchLabels: { type: 'object', additionalProperties: { type: 'string' }, description: 'Labels that a claim has.' },
  },
  atomic: true,
  rules: immutable('selector'),
});

export const volumeGroupSnapshotDefinition = predefine({
  group: groupSnapshotGroup,
  versions,
  names: { plural: 'volumegroupsnapshots', singular: 'volumegroupsnapshot', kind: 'VolumeGroupSnapshot', shortNames: ['vgs'] },
  namespaced: true,
  hasStatus: true,
  columns: [
    column('ReadyToUse', 'boolean', '.status.readyToUse'),
    column('VolumeGroupSnapshotClass', 'string', '.spec.volumeGroupSnapshotClassName'),
    column('VolumeGroupSnapshotContent', 'string', '.status.boundVolumeGroupSnapshotContentName'),
    column('CreationTime', 'date', '.status.creationTime'),
    ageColumn,
  ],
  schema: topLevel(
    'A request for snapshots of several volumes at one moment.',
    {
      spec: object({
        properties: {
          source: object({
            description: 'Which claims, or the content that exists already.',
            properties: {
              selector,
              volumeGroupSnapshotContentName: text('A VolumeGroupSnapshotContent that an administrator created.', immutable('volumeGroupSnapshotContentName')),
            },
            rules: [keptOnceSet('selector'), keptOnceSet('volumeGroupSnapshotContentName'), exactlyOneOf('selector', 'volumeGroupSnapshotContentName')],
          }),
          volumeGroupSnapshotClassName: text('The VolumeGroupSnapshotClass. Unset: the default class of the driver.', notEmpty('volumeGroupSnapshotClassName')),
        },
        required: ['source'],
      }),
      status: object({
        properties: {
          boundVolumeGroupSnapshotContentName: text(
            'The VolumeGroupSnapshotContent that it is bound to.',
            immutableOnceSet('boundVolumeGroupSnapshotContentName'),
          ),
          creationTime: time('When the storage system took the snapshots.'),
          error: errorSchema,
          readyToUse: flag('Volumes can be restored from all of its members.'),
        },
      }),
    },
    ['spec'],
  ),
});

const reference = referenceSchema([
  { rule: 'has(self.name) && has(self.__namespace__)', message: 'both volumeGroupSnapshotRef.name and volumeGroupSnapshotRef.namespace must be set' },
  {
    rule: 'self.name == oldSelf.name && self.__namespace__ == oldSelf.__namespace__',
    message: 'volumeGroupSnapshotRef.name and volumeGroupSnapshotRef.namespace are immutable',
  },
  { rule: '!has(oldSelf.uid) || (has(self.uid) && self.uid == oldSelf.uid)', message: 'volumeGroupSnapshotRef.uid is immutable once set' },
]);

const contentSource = object({
  description: 'The volumes to take snapshots of, or a group of snapshots that exists already.',
  properties: {
    groupSnapshotHandles: object({
      description: "The driver's own ids of a group that exists, and of its members.",
      properties: {
        volumeGroupSnapshotHandle: text("The driver's own id of the group."),
        volumeSnapshotHandles: strings("The driver's own ids of the members."),
      },
      required: ['volumeGroupSnapshotHandle', 'volumeSnapshotHandles'],
      rules: immutable('groupSnapshotHandles'),
    }),
    volumeHandles: list({ type: 'string' }, "The driver's own ids of the volumes.", immutable('volumeHandles')),
  },
  rules: [keptOnceSet('volumeHandles'), keptOnceSet('groupSnapshotHandles'), exactlyOneOf('volumeHandles', 'groupSnapshotHandles')],
});

export const volumeGroupSnapshotContentDefinition = predefine({
  group: groupSnapshotGroup,
  versions,
  names: {
    plural: 'volumegroupsnapshotcontents',
    singular: 'volumegroupsnapshotcontent',
    kind: 'VolumeGroupSnapshotContent',
    shortNames: ['vgsc', 'vgscs'],
  },
  namespaced: false,
  hasStatus: true,
  columns: [
    column('ReadyToUse', 'boolean', '.status.readyToUse'),
    column('DeletionPolicy', 'string', '.spec.deletionPolicy'),
    column('Driver', 'string', '.spec.driver'),
    column('VolumeGroupSnapshotClass', 'string', '.spec.volumeGroupSnapshotClassName'),
    column('VolumeGroupSnapshotNamespace', 'string', '.spec.volumeGroupSnapshotRef.namespace'),
    column('VolumeGroupSnapshot', 'string', '.spec.volumeGroupSnapshotRef.name'),
    ageColumn,
  ],
  schema: topLevel(
    'A group of snapshots in a storage system.',
    {
      spec: object({
        properties: {
          deletionPolicy: deletionPolicy(),
          driver: text('The CSI driver that took the snapshots.', immutableOnceSet('driver')),
          source: contentSource,
          volumeGroupSnapshotClassName: text('The VolumeGroupSnapshotClass.', immutableOnceSet('volumeGroupSnapshotClassName')),
          volumeGroupSnapshotRef: reference,
        },
        required: ['deletionPolicy', 'driver', 'source', 'volumeGroupSnapshotRef'],
      }),
      status: object({
        properties: {
          creationTime: time('When the storage system took the snapshots.'),
          error: errorSchema,
          readyToUse: flag('Volumes can be restored from all members.'),
          volumeGroupSnapshotHandle: text("The driver's own id of the group.", immutableOnceSet('volumeGroupSnapshotHandle')),
          volumeSnapshotInfoList: list(
            object({
              properties: {
                creationTime: amount('When it was taken: nanoseconds since 1970.'),
                readyToUse: flag('A volume can be restored from it.'),
                restoreSize: amount('Its size in bytes.'),
                snapshotHandle: text("The driver's own id of it."),
                volumeHandle: text("The driver's own id of the volume it was taken of."),
              },
            }),
            'The members.',
          ),
        },
      }),
    },
    ['spec'],
  ),
});

export const volumeGroupSnapshotClassDefinition = predefine({
  group: groupSnapshotGroup,
  versions,
  names: {
    plural: 'volumegroupsnapshotclasses',
    singular: 'volumegroupsnapshotclass',
    kind: 'VolumeGroupSnapshotClass',
    shortNames: ['vgsclass', 'vgsclasses'],
  },
  namespaced: false,
  hasStatus: false,
  columns: classColumns,
  schema: classSchema('Which driver takes group snapshots, and with which parameters.', {
    driver: immutableOnceSet('driver'),
    policy: immutableOnceSet('deletionPolicy'),
    parameters: immutableOnceSet('parameters', 'are'),
  }),
});

export const volumeGroupSnapshotKind: Kind<VolumeGroupSnapshot> = preferredKind(volumeGroupSnapshotDefinition);
export const volumeGroupSnapshotContentKind: Kind<VolumeGroupSnapshotContent> = preferredKind(volumeGroupSnapshotContentDefinition);
export const volumeGroupSnapshotClassKind: Kind<VolumeSnapshotClass> = preferredKind(volumeGroupSnapshotClassDefinition);
