/** Reads the objects that an explanation needs, and no more. */
import type { Stored } from '../../api/stored.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { type Kind, untypedKind } from '../../api/kind.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { csiStorageCapacityKind } from '../../api/kinds/storage/csi-storage-capacity.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import { deploymentKind } from '../../api/kinds/apps/deployment.ts';
import { replicaSetKind } from '../../api/kinds/apps/replica-set.ts';
import { statefulSetKind } from '../../api/kinds/apps/stateful-set.ts';
import { jobKind } from '../../api/kinds/batch/job.ts';
import { resourceQuotaKind } from '../../api/kinds/core/resource-quota.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { nodePoolKind } from '../../api/kinds/karpenter/node-pool.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { volumeSnapshotClassKind, volumeSnapshotContentKind, volumeSnapshotKind } from '../../api/kinds/snapshot/volume-snapshot.ts';
import type { KubeObject } from '../../api/object.ts';
import { claimKey, readClaim } from '../../storage/volumes/claim.ts';
import { isInTree, csiDriverOf } from '../../api/volumes/csi-migration.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { waitsForConsumer } from '../../api/volumes/storage-class.ts';
import type { Client } from '../../client/client.ts';
import type { ClusterObjects, ObjectList } from '../graph/cluster-objects.ts';
import type { Target, TargetKind } from '../explanation/target.ts';
import { ClusterError, ClusterReader, type LogReader } from './cluster-reader.ts';
import type { PathReader } from './store-problem.ts';

export interface ReadOptions {
  readonly client: Client;
  readonly logs?: LogReader;
  /** Absent: what the server says of its store is not read. */
  readonly paths?: PathReader;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** @throws ClusterError if the cluster does not answer, or the user may not read the target */
export async function readObjects(target: Target, { client, logs, paths, now }: ReadOptions): Promise<ClusterObjects> {
  const reader = new ClusterReader(client, { logs, paths });
  const found = await readFor(reader, target);
  const crashing = (found.pods ?? []).filter((pod) => target.kind !== 'pod' || pod.metadata.name === target.name);
  return objectsOf({ ...found, logs: logs === undefined || target.kind === 'pv' ? [] : await reader.logsOf(crashing, now) }, reader);
}

/** Everything that may be stuck. `namespace`: only what is in it, beside what is in none. @throws ClusterError */
export async function readEverything({ client, paths }: Pick<ReadOptions, 'client' | 'paths'>, namespace?: string): Promise<ClusterObjects> {
  const reader = new ClusterReader(client, { paths });
  return objectsOf(await readAll(reader, namespace), reader);
}

function objectsOf(found: ReadObjects, { unseen }: ClusterReader): ClusterObjects {
  const lists = Object.fromEntries(Object.entries(found).filter(([, list]) => list !== undefined)) as ReadObjects;
  return { ...lists, unseen } as ClusterObjects;
}

/** What is undefined could not be read. */
type ReadObjects = { readonly [K in Exclude<keyof ClusterObjects, 'unseen'>]?: ClusterObjects[K] | undefined };

function readFor(reader: ClusterReader, target: Target): Promise<ReadObjects> {
  switch (target.kind) {
    case 'pvc':
      return readForClaim(reader, target);
    case 'pv':
      return readForVolume(reader, target);
    case 'pod':
      return readForPod(reader, target);
    case 'va':
      return readForAttachment(reader, target);
    default:
      return readFurther(reader, target);
  }
}

/** Workloads are explained by their pods, and these by everything else. */
async function readFurther(reader: ClusterReader, { kind, namespace, name }: Target): Promise<ReadObjects> {
  const found = await readAll(reader, namespace);
  const list = listOfTarget[kind];
  if (list !== undefined && found[list] === undefined) throw new ClusterError(`cannot read ${list}: ${reader.unseen.map(({ because }) => because).join('; ')}`);
  const own = list === undefined ? undefined : (found[list] as readonly Stored[]);
  if (namespace === undefined || own === undefined || own.some(({ metadata }) => metadata.name === name)) return found;
  const target = targetKinds[kind];
  return target === undefined ? found : { ...found, elsewhere: await namespacesWith(reader, target, { namespace, name }) };
}

const listOfTarget: Readonly<Partial<Record<TargetKind, ObjectList>>> = {
  sts: 'sets',
  deploy: 'deployments',
  job: 'jobs',
  node: 'nodes',
  sc: 'classes',
  ns: 'namespaces',
  quota: 'quotas',
  vs: 'snapshots',
};
const targetKinds: Readonly<Partial<Record<TargetKind, Kind<KubeObject>>>> = {
  sts: untypedKind(statefulSetKind),
  deploy: untypedKind(deploymentKind),
  job: untypedKind(jobKind),
  quota: untypedKind(resourceQuotaKind),
  vs: untypedKind(volumeSnapshotKind),
};

/** All lists; those of the namespace, if one is given. */
async function readAll(reader: ClusterReader, namespace: string | undefined): Promise<ReadObjects> {
  const inside = namespace === undefined ? {} : { namespace };
  const [placing, claims, pods, volumes, classes, namespaces, capacities, intents] = await Promise.all([
    forPlacing(reader),
    reader.list(persistentVolumeClaimKind, inside),
    reader.list(podKind, inside),
    reader.list(persistentVolumeKind),
    reader.list(storageClassKind),
    reader.list(namespaceKind),
    reader.list(csiStorageCapacityKind),
    reader.tryList(volumeIntentKind),
  ]);
  const [sets, deployments, replicaSets, jobs, quotas] = await Promise.all([
    reader.list(statefulSetKind, inside),
    reader.list(deploymentKind, inside),
    reader.list(replicaSetKind, inside),
    reader.list(jobKind, inside),
    reader.list(resourceQuotaKind, inside),
  ]);
  const snapshots = { ...(await forSnapshots(reader, namespace)), ...(await forLaunches(reader)) };
  const placed = namespace === undefined ? pods : await reader.list(podKind, { fieldSelector: placedPods });
  return { ...placing, claims, pods, volumes, classes, namespaces, capacities, intents, sets, deployments, replicaSets, jobs, quotas, placed, ...snapshots };
}

/** Only clusters with Karpenter's kinds have them. */
async function forLaunches(reader: ClusterReader): Promise<ReadObjects> {
  const [nodePools, nodeClaims] = await Promise.all([reader.tryList(nodePoolKind), reader.tryList(nodeClaimKind)]);
  return { nodePools, nodeClaims };
}

/** Not every server has them. */
async function forSnapshots(reader: ClusterReader, namespace: string | undefined): Promise<ReadObjects> {
  const [snapshots, snapshotContents, snapshotClasses] = await Promise.all([
    reader.tryList(volumeSnapshotKind),
    reader.tryList(volumeSnapshotContentKind),
    reader.tryList(volumeSnapshotClassKind),
  ]);
  return { snapshots: snapshots.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace), snapshotContents, snapshotClasses };
}

const placedPods = 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed';

async function readForClaim(reader: ClusterReader, { namespace = '', name }: Target): Promise<ReadObjects> {
  const claims = await listOrGet(reader, persistentVolumeClaimKind, { namespace, name });
  const claim = claims.find(({ metadata }) => metadata.name === name);
  if (claim === undefined) return { claims, elsewhere: await namespacesWith(reader, persistentVolumeClaimKind, { namespace, name }) };
  const pods = reader.list(podKind, { namespace });
  const { volumeName, everBound } = readClaim(claim);
  if (everBound && volumeName !== '') return { claims, pods: await pods, volumes: await reader.getEach(persistentVolumeKind, [volumeName]) };
  const snapshots = claim.spec.dataSource?.kind === 'VolumeSnapshot' ? await forSnapshots(reader, namespace) : {};
  return { claims, pods: await pods, ...(await forUnbound(reader, [claim])), ...snapshots };
}

/** For claims without a volume: the volumes that may fit, and what provisions new ones. */
async function forUnbound(reader: ClusterReader, claims: readonly Stored<PersistentVolumeClaim>[]): Promise<ReadObjects> {
  const [volumes, classes, ...intents] = await Promise.all([
    reader.list(persistentVolumeKind),
    reader.list(storageClassKind),
    ...claims.map(({ metadata }) => reader.tryGet(volumeIntentKind, { name: `pvc-${metadata.uid}` })),
  ]);
  const asked = new Set(claims.map((claim) => readClaim(claim).className));
  const ofClaims = (classes ?? []).filter(({ metadata }) => asked.has(metadata.name));
  const byOthers = ofClaims.some(({ provisioner }) => !isInTree(provisioner) || csiDriverOf(provisioner) !== undefined);
  return {
    volumes,
    classes,
    intents: intents.flat(),
    ...(byOthers ? await forDrivers(reader) : {}),
    // With WaitForFirstConsumer, the nodes' labels decide which volumes fit.
    ...(ofClaims.some(waitsForConsumer) ? await forPlacing(reader) : {}),
  };
}

async function forDrivers(reader: ClusterReader): Promise<ReadObjects> {
  const [drivers, csiNodes] = await Promise.all([reader.list(csiDriverKind), reader.list(csiNodeKind)]);
  return { drivers, csiNodes };
}

async function readForVolume(reader: ClusterReader, { name }: Target): Promise<ReadObjects> {
  const volume = await reader.get(persistentVolumeKind, { name });
  if (volume === undefined) throw refused(reader);
  if (volume === 'absent') return { volumes: await reader.list(persistentVolumeKind) };
  const { claimRef } = volume.spec;
  const [claims, pods, attachments, intents] = await Promise.all([
    reader.list(persistentVolumeClaimKind, claimRef === undefined ? {} : { namespace: claimRef.namespace ?? '' }),
    claimRef === undefined ? undefined : reader.list(podKind, { namespace: claimRef.namespace ?? '' }),
    reader.list(volumeAttachmentKind),
    reader.tryGet(volumeIntentKind, { name }),
  ]);
  const scrubber =
    volume.spec.persistentVolumeReclaimPolicy === 'Recycle' ? await reader.tryGet(podKind, { namespace: 'default', name: `recycler-for-${name}` }) : [];
  const classes = claimRef === undefined ? await reader.list(storageClassKind) : undefined;
  return {
    volumes: [volume],
    claims,
    pods: pods === undefined ? pods : [...pods, ...scrubber],
    attachments,
    intents,
    classes,
    ...(volume.status.phase === 'Released' ? await forDrivers(reader) : {}),
  };
}

async function readForPod(reader: ClusterReader, { namespace = '', name }: Target): Promise<ReadObjects> {
  const pods = await listOrGet(reader, podKind, { namespace, name });
  const pod = pods.find(({ metadata }) => metadata.name === name);
  if (pod === undefined) return { pods, elsewhere: await namespacesWith(reader, podKind, { namespace, name }) };
  const claims = await reader.list(persistentVolumeClaimKind, { namespace });
  const used = (claims ?? []).filter(({ metadata }) => claimsOfPod(pod).includes(claimKey(namespace, metadata.name)));
  const unbound = used.filter((claim) => !readClaim(claim).everBound);
  const volumes = unbound.length > 0 ? await forUnbound(reader, unbound) : { volumes: await reader.getEach(persistentVolumeKind, volumeNames(used)) };
  // The server may refuse the claim of an ephemeral volume.
  const quotas = (pod.spec.volumes ?? []).some(({ ephemeral }) => ephemeral !== undefined) ? await reader.list(resourceQuotaKind, { namespace }) : undefined;
  const found = { pods, claims, quotas, ...volumes, ...(isSettled(pod) ? {} : await forPlacing(reader)) };
  const isWaiting = (pod.spec.nodeName ?? '') === '' && !isSettled(pod);
  return isWaiting ? { ...found, ...(await forScheduling(reader, used.length > 0 ? found : undefined)) } : found;
}

const volumeNames = (claims: readonly PersistentVolumeClaim[]): readonly string[] => claims.flatMap(({ spec }) => spec.volumeName ?? []);

/** The pod runs or has ended: its volumes are where they have to be. */
const isSettled = ({ metadata, status }: Stored<Pod>): boolean => metadata.deletionTimestamp === undefined && status.phase !== 'Pending';

async function forPlacing(reader: ClusterReader): Promise<ReadObjects> {
  const [nodes, attachments, drivers] = await Promise.all([reader.list(nodeKind), reader.list(volumeAttachmentKind), forDrivers(reader)]);
  return { nodes, attachments, ...drivers };
}

/** What the scheduler's filters read. `found`: the pod has volumes, so those of other pods count against the nodes' attach limits. */
async function forScheduling(reader: ClusterReader, found: ReadObjects | undefined): Promise<ReadObjects> {
  const [placed, namespaces, capacities, claims, volumes] = await Promise.all([
    reader.list(podKind, { fieldSelector: placedPods }),
    reader.list(namespaceKind),
    reader.list(csiStorageCapacityKind),
    found === undefined ? undefined : reader.list(persistentVolumeClaimKind),
    found === undefined ? undefined : reader.list(persistentVolumeKind),
  ]);
  const ofOthers = found === undefined ? {} : { claims: claims ?? found.claims, volumes: volumes ?? found.volumes };
  return { placed, namespaces, capacities, ...ofOthers, ...(await forLaunches(reader)) };
}

async function readForAttachment(reader: ClusterReader, { name }: Target): Promise<ReadObjects> {
  const attachments = await reader.list(volumeAttachmentKind);
  if (attachments === undefined) throw refused(reader);
  const attachment = attachments.find(({ metadata }) => metadata.name === name);
  if (attachment === undefined) return { attachments };
  const { source, attacher } = attachment.spec;
  const ofVolume = attachments.filter(({ spec }) => spec.source.persistentVolumeName === source.persistentVolumeName);
  const nodeNames = ofVolume.map(({ spec }) => spec.nodeName);
  const [volumes, nodes, drivers, csiNodes] = await Promise.all([
    reader.getEach(persistentVolumeKind, source.persistentVolumeName === undefined ? [] : [source.persistentVolumeName]),
    reader.getEach(nodeKind, nodeNames),
    reader.getEach(csiDriverKind, [attacher]),
    reader.getEach(csiNodeKind, nodeNames),
  ]);
  return { attachments, volumes, nodes, drivers, csiNodes, ...(await forClaimOf(reader, volumes?.[0])) };
}

async function forClaimOf(reader: ClusterReader, volume: PersistentVolume | undefined): Promise<ReadObjects> {
  const namespace = volume?.spec.claimRef?.namespace;
  if (namespace === undefined) return {};
  const [claims, pods] = await Promise.all([reader.list(persistentVolumeClaimKind, { namespace }), reader.list(podKind, { namespace })]);
  return { claims, pods };
}

interface NamespacedRef {
  readonly namespace: string;
  readonly name: string;
}

/** All of the namespace, or if the user may not list them, the named one alone. */
async function listOrGet<T extends KubeObject>(reader: ClusterReader, kind: Kind<T>, { namespace, name }: NamespacedRef): Promise<readonly Stored<T>[]> {
  const all = await reader.list(kind, { namespace });
  if (all !== undefined) return all;
  const one = await reader.get(kind, { namespace, name });
  if (one === undefined) throw refused(reader);
  return one === 'absent' ? [] : [one];
}

const refused = ({ unseen }: ClusterReader): ClusterError => {
  const last = unseen.at(-1);
  return new ClusterError(`cannot read ${last?.what ?? 'it'}: ${last?.because ?? ''}`);
};

/** Other namespaces that have an object of that name; empty if the user may not list them. */
async function namespacesWith<T extends KubeObject>(reader: ClusterReader, kind: Kind<T>, { namespace, name }: NamespacedRef): Promise<readonly string[]> {
  const found = await reader.list(kind, { fieldSelector: `metadata.name=${name}` });
  return (found ?? []).flatMap(({ metadata }) => (metadata.namespace === undefined || metadata.namespace === namespace ? [] : [metadata.namespace])).sort();
}
