/** Describes a change of an object in a few words, if it matters for storage or for pods that wait for it. */
import type {
  Node,
  NodeSelectorRequirement,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Taint,
  VolumeAttachment,
  VolumeError,
} from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { VolumeIntent } from '../../api/volumes/intent.ts';
import type { KubeObject } from '../../api/object.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { nameOf } from './object-name.ts';

export interface NarratedChange {
  readonly about: string;
  readonly what: string;
}

/** Empty: the change does not matter. */
export function narrate(before: KubeObject | undefined, after: KubeObject | undefined): readonly NarratedChange[] {
  const object = after ?? before;
  const describe = object === undefined ? undefined : describers[object.kind];
  if (object === undefined || describe === undefined) return [];
  const about = nameOf(object);
  return [...describe(before, after), ...describeDeletion(before, after)].map((what) => (typeof what === 'string' ? { about, what } : what));
}

/** Whether changes of a kind can matter at all. */
export const isNarrated = (kind: string): boolean => kind === 'Event' || kind in describers;

type Describer = (before: KubeObject | undefined, after: KubeObject | undefined) => readonly (string | NarratedChange)[];

/** A describer for objects that exist; deletion is described for all kinds alike. */
function of<T extends KubeObject>(describe: (before: T | undefined, after: T) => readonly (string | NarratedChange)[]): Describer {
  return (before, after) => (after === undefined ? [] : describe(before as T | undefined, after as T));
}

const silentEnds = new Set(['VolumeAttachment', 'VolumeIntent']);

function describeDeletion(before: KubeObject | undefined, after: KubeObject | undefined): readonly string[] {
  if (silentEnds.has((after ?? before)?.kind ?? '')) return [];
  if (after === undefined) return before === undefined ? [] : ['is gone'];
  if (after.metadata.deletionTimestamp === undefined || before?.metadata.deletionTimestamp !== undefined) return [];
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = after.metadata;
  const waits = finalizers.length > 0 ? `, held by ${finalizers.join(', ')}` : deletionGracePeriodSeconds > 0 ? `, grace ${deletionGracePeriodSeconds}s` : '';
  return [`is Terminating${waits}`];
}

/** One description if the value changed. */
const became = <T>(before: T | undefined, after: T | undefined, describe: (now: T, was: T | undefined) => string): readonly string[] =>
  after === undefined || JSON.stringify(before) === JSON.stringify(after) ? [] : [describe(after, before)];

const condition = (object: { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] | null } } | undefined, type: string) =>
  object?.status?.conditions?.find((each) => each.type === type);

const pod = of<Pod>((before, after) => {
  const ready = condition(after, 'Ready')?.status === 'True';
  const wasReady = condition(before, 'Ready')?.status === 'True';
  const phase = after.status.phase;
  const running = ready && phase === 'Running';
  return [
    ...(before === undefined ? [`created${usedClaims(after)}`] : []),
    ...became(before?.spec.nodeName, after.spec.nodeName, (node) => `is assigned to ${node}`),
    ...(phase === before?.status.phase || phase === 'Pending' ? [] : [`is ${phase}${running ? ' and ready' : ''}`]),
    ...(ready === wasReady || hasEnded(after) || (running && phase !== before?.status.phase) ? [] : [ready ? 'is ready' : 'is not ready any more']),
  ];
});

function usedClaims({ spec }: Pod): string {
  const claims = (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined ? [] : [`pvc/${persistentVolumeClaim.claimName}`],
  );
  return claims.length === 0 ? '' : `, uses ${claims.join(', ')}`;
}

const selectedNode = 'volume.kubernetes.io/selected-node';

const claim = of<PersistentVolumeClaim>((before, after) => {
  const { spec, status, metadata } = after;
  const asked = spec.resources.requests?.['storage'];
  const { storageClassName: of = '' } = spec;
  return [
    ...(before === undefined ? [`created: ${asked ?? ''}${of === '' ? '' : ` of class ${of}`}`] : []),
    ...(before === undefined ? [] : became(before.spec.resources.requests?.['storage'], asked, (now, was) => `requests ${now} (was ${was ?? ''})`)),
    ...became(before?.metadata.annotations?.[selectedNode], metadata.annotations?.[selectedNode], (node) => `has selected-node ${node}`),
    ...(status.phase === 'Pending'
      ? []
      : became(before?.status.phase, status.phase, (phase) => (phase === 'Bound' ? `is Bound to pv/${spec.volumeName ?? ''}` : `is ${phase}`))),
    ...(before?.status.capacity === undefined ? [] : became(before.status.capacity['storage'], status.capacity?.['storage'], (now) => `has capacity ${now}`)),
    ...(status.conditions ?? []).flatMap(({ type, status: is, message = '' }) =>
      is === 'True' && condition(before, type)?.status !== 'True' ? [`${type}${message === '' ? '' : `: ${message}`}`] : [],
    ),
  ];
});

const volume = of<PersistentVolume>((before, after) => {
  const { spec, status } = after;
  const { claimRef } = spec;
  const owner = claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`;
  return [
    ...(before === undefined
      ? [`created: ${spec.capacity?.['storage'] ?? ''}${placeOf(after)}, ${spec.persistentVolumeReclaimPolicy ?? ''}${owner === '' ? '' : `, for ${owner}`}`]
      : []),
    ...(before === undefined || status.phase === 'Pending'
      ? []
      : became(before.status.phase, status.phase, (phase) => `is ${phase}${phase === 'Bound' ? ` to ${owner}` : ''}`)),
    ...(before?.spec.claimRef !== undefined && claimRef === undefined ? ['has no claimRef any more'] : []),
    ...(before === undefined ? [] : became(before.spec.capacity?.['storage'], spec.capacity?.['storage'], (now) => `has capacity ${now}`)),
  ];
});

/** ' in zone-a' */
function placeOf({ spec }: PersistentVolume): string {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const values = terms.flatMap(({ matchExpressions = [] }) =>
    (matchExpressions as readonly NodeSelectorRequirement[]).flatMap(({ operator, values: in_ }) => (operator === 'In' ? (in_ ?? []) : [])),
  );
  return values.length === 0 ? '' : ` in ${values.join(', ')}`;
}

const failureOf = (error: VolumeError | undefined): string | undefined => error?.message;

const attachment: Describer = (before, after) => {
  const object = (after ?? before) as VolumeAttachment | undefined;
  if (object === undefined) return [];
  const { spec } = object;
  const about = `pv/${spec.source.persistentVolumeName ?? ''}`;
  const narrated = (what: string): NarratedChange => ({ about, what });
  if (after === undefined) return [narrated(`is detached from ${spec.nodeName}`)];
  const was = before as VolumeAttachment | undefined;
  const status = object.status;
  return [
    ...(was === undefined ? [narrated(`is being attached to ${spec.nodeName}`)] : []),
    ...((status?.attached ?? false) && !(was?.status?.attached ?? false) ? [narrated(`is attached to ${spec.nodeName}`)] : []),
    ...(after.metadata.deletionTimestamp !== undefined && was?.metadata.deletionTimestamp === undefined
      ? [narrated(`is being detached from ${spec.nodeName}`)]
      : []),
    ...became(failureOf(was?.status?.attachError), failureOf(status?.attachError), (message) => `cannot be attached to ${spec.nodeName}: ${message}`).map(
      narrated,
    ),
    ...became(failureOf(was?.status?.detachError), failureOf(status?.detachError), (message) => `cannot be detached from ${spec.nodeName}: ${message}`).map(
      narrated,
    ),
  ];
};

const node = of<Node>((before, after) => {
  const ready = condition(after, 'Ready')?.status;
  const taint = ({ key, effect }: Taint) => `${key}:${effect}`;
  const [had, has] = [(before?.spec.taints ?? []).map(taint), (after.spec.taints ?? []).map(taint)];
  return [
    ...(before === undefined ? ['joins the cluster'] : became(condition(before, 'Ready')?.status, ready, (is) => (is === 'True' ? 'is Ready' : 'is NotReady'))),
    ...has.filter((each) => !had.includes(each) && before !== undefined).map((each) => `gets taint ${each}`),
    ...had.filter((each) => !has.includes(each)).map((each) => `loses taint ${each}`),
    ...(before === undefined
      ? []
      : became(before.spec.unschedulable ?? false, after.spec.unschedulable ?? false, (is) => (is ? 'is cordoned' : 'is uncordoned'))),
  ];
});

interface Replicated extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

const replicated = of<Replicated>((before, after) => [
  ...(before === undefined
    ? [`created${after.spec?.replicas === undefined ? '' : `, ${after.spec.replicas} ${after.spec.replicas === 1 ? 'replica' : 'replicas'}`}`]
    : []),
  ...(before === undefined ? [] : became(before.spec?.replicas, after.spec?.replicas, (now, was) => `scaled from ${was ?? 0} to ${now}`)),
]);

const intent = of<VolumeIntent>((before, { spec, status }) => [
  ...(before === undefined ? [`records the intent to ${spec.operation.toLowerCase()} the disk`] : []),
  ...(status.phase === 'Failing' ? became(before?.status.message, status.message, (message) => `failed: ${message}`) : []),
  ...(status.phase === 'Created' && before?.status.phase !== 'Created' ? ['records that the disk exists'] : []),
]);

const nodeClaim = of<NodeClaim>((before, after) => {
  const { requirements } = after.spec;
  const values = (key: string) => requirements.find((each) => each.key === key)?.values ?? [];
  const types = values('node.kubernetes.io/instance-type');
  const zones = values('topology.kubernetes.io/zone');
  const {
    'node.kubernetes.io/instance-type': type = '',
    'karpenter.sh/capacity-type': capacity = '',
    'topology.kubernetes.io/zone': zone = '',
  } = {
    ...after.metadata.labels,
  };
  const isNow = (name: string) => condition(after, name)?.status === 'True' && condition(before, name)?.status !== 'True';
  const reason = after.status?.conditions?.find((each) => each.type === 'DisruptionReason')?.reason;
  return [
    ...(before === undefined
      ? [`created: ${types.length === 1 ? (types[0] ?? '') : `one of ${types.length} instance types`}${zones.length === 0 ? '' : ` in ${zones.join(' or ')}`}`]
      : []),
    ...(isNow('Launched') ? [`is launched: ${type}, ${capacity}, in ${zone}`] : []),
    ...(isNow('Initialized') ? [`is initialized: node/${after.status?.nodeName ?? ''}`] : []),
    ...(isNow('DisruptionReason') ? [`is disrupted: ${reason ?? ''}`] : []),
  ];
});

const created: Describer = (before) => (before === undefined ? ['created'] : []);

const describers: Readonly<Record<string, Describer>> = {
  Pod: pod,
  PersistentVolumeClaim: claim,
  PersistentVolume: volume,
  VolumeAttachment: attachment,
  Node: node,
  StatefulSet: replicated,
  Deployment: replicated,
  ReplicaSet: replicated,
  DaemonSet: replicated,
  Job: replicated,
  StorageClass: created,
  VolumeIntent: intent,
  NodeClaim: nodeClaim,
  NodePool: created,
};
