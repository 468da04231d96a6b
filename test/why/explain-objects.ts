/** Explanations as tests ask for them: objects in, text out. */
import type { CSIDriver, CSINode, Node, PersistentVolume, Pod, VolumeAttachment } from '../../src/api/generated/types.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { overviewOf } from '../../src/why/overview.ts';
import { explain } from '../../src/why/explain.ts';
import type { Explanation, Overview } from '../../src/why/explanation/explanation.ts';
import type { ObjectList, ClusterObjects } from '../../src/why/graph/cluster-objects.ts';
import { render } from '../../src/why/explanation/render.ts';
import { parseTarget } from '../../src/why/explanation/target.ts';
import { uidOf } from '../storage/objects.ts';

/** Five minutes after the objects of the tests were created. */
export const now = Date.parse('2025-01-01T00:05:00Z');

const lists: Readonly<Record<string, ObjectList>> = {
  PersistentVolumeClaim: 'claims',
  PersistentVolume: 'volumes',
  StorageClass: 'classes',
  Pod: 'pods',
  Node: 'nodes',
  VolumeAttachment: 'attachments',
  CSIDriver: 'drivers',
  CSINode: 'csiNodes',
  VolumeIntent: 'intents',
  NodePool: 'nodePools',
  NodeClaim: 'nodeClaims',
  Namespace: 'namespaces',
  CSIStorageCapacity: 'capacities',
  StatefulSet: 'sets',
  Deployment: 'deployments',
  ReplicaSet: 'replicaSets',
  Job: 'jobs',
  ResourceQuota: 'quotas',
};

export interface Question {
  /** Kinds that could not be read. */
  readonly without?: readonly ObjectList[];
  readonly namespace?: string;
  readonly elsewhere?: readonly string[];
  readonly logs?: ClusterObjects['logs'];
}

/** A cluster with only these objects. */
export function objectsOf(objects: readonly KubeObject[], { without = [], elsewhere = [], logs = [] }: Question = {}): ClusterObjects {
  const found = Object.fromEntries(Object.values(lists).map((list): [ObjectList, KubeObject[]] => [list, []]));
  for (const object of objects) found[lists[object.kind] ?? '']?.push(object);
  found['placed'] = (found['pods'] ?? []).filter((each) => ((each as Pod).spec.nodeName ?? '') !== '');
  for (const list of without) delete found[list];
  return { ...found, elsewhere, logs, unseen: without.map((what) => ({ what, because: 'forbidden' })) };
}

export function explanation(target: string, objects: readonly KubeObject[], question: Question = {}): Explanation {
  const parsed = parseTarget([target], question.namespace ?? 'default');
  if (typeof parsed === 'string') throw new Error(parsed);
  return explain(parsed, objectsOf(objects, question), now);
}

export const overview = (objects: readonly KubeObject[], question: Question = {}): Overview => overviewOf(objectsOf(objects, question), now);

/** As a terminal of 100 columns without colours shows it, with a line break before it. */
export function answer(target: string, objects: readonly KubeObject[], question: Question = {}): string {
  return `\n${render(explanation(target, objects, question), { colour: false, width: 100 })}`;
}

export function node(
  name: string,
  more: { readonly labels?: Record<string, string>; readonly spec?: Node['spec']; readonly status?: Partial<Node['status']> } = {},
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: uidOf('node', name),
      labels: { 'kubernetes.io/hostname': name, ...more.labels },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: more.spec ?? {},
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }],
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      nodeInfo: {} as Node['status']['nodeInfo'],
      allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
      ...more.status,
    },
  };
}

export const notReady: Partial<Node['status']> = {
  conditions: [{ type: 'Ready', status: 'Unknown', lastHeartbeatTime: null, lastTransitionTime: '2025-01-01T00:01:00Z' }],
};

export const inZone = (zone: string) => ({ labels: { 'topology.kubernetes.io/zone': zone } });
export const onlyInZone = (zone: string): PersistentVolume['spec']['nodeAffinity'] & object => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] }] }] },
});

/** What makes a volume and a claim bound to each other. */
export const boundTo = (claim: string) => ({
  claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'default', name: claim, uid: uidOf('pvc', claim) },
});
export const bound = { metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }, status: { phase: 'Bound' } };

export const disk = (handle: string): Partial<PersistentVolume['spec']> => ({
  hostPath: undefined as never,
  csi: { driver: 'ebs.csi.aws.com', volumeHandle: handle },
});

export function attachment(name: string, volume: string, on: string, more: Partial<VolumeAttachment> = {}): VolumeAttachment {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    spec: { attacher: 'ebs.csi.aws.com', source: { persistentVolumeName: volume }, nodeName: on },
    status: { attached: true },
    ...more,
    metadata: { name, uid: uidOf('va', name), creationTimestamp: '2025-01-01T00:00:00Z', ...more.metadata },
  };
}

export const csiDriver = (name: string): CSIDriver => ({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name }, spec: {} });
export const csiNode = (name: string, ...drivers: readonly string[]): CSINode => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  metadata: { name },
  spec: { drivers: drivers.map((driver) => ({ name: driver, nodeID: name, topologyKeys: null })) },
});

export const onNode = (name: string, phase = 'Running'): { readonly spec: Partial<Pod['spec']>; readonly status: Pod['status'] } => ({
  spec: { nodeName: name },
  status: { phase },
});
