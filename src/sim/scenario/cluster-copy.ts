/**
 * A copy of a real cluster, for a simulation. It only lists objects. Secrets are not read: empty ones replace them.
 */
import type { Secret } from '../../api/generated/types.ts';
import { apiVersionOf, untypedKind, type Kind } from '../../api/kind.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { csiStorageCapacityKind } from '../../api/kinds/storage/csi-storage-capacity.ts';
import { kindByName } from '../../api/kinds/index.ts';
import { limitRangeKind } from '../../api/kinds/core/limit-range.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { podDisruptionBudgetKind } from '../../api/kinds/policy/pod-disruption-budget.ts';
import { priorityClassKind } from '../../api/kinds/scheduling/priority-class.ts';
import { resourceQuotaKind } from '../../api/kinds/core/resource-quota.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import { serviceAccountKind } from '../../api/kinds/core/service-account.ts';
import { serviceKind } from '../../api/kinds/core/service.ts';
import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import { volumeAttributesClassKind } from '../../api/kinds/storage/volume-attributes-class.ts';
import { controllerRevisionKind } from '../../api/kinds/apps/controller-revision.ts';
import { cronJobKind } from '../../api/kinds/batch/cron-job.ts';
import { daemonSetKind } from '../../api/kinds/apps/daemon-set.ts';
import { deploymentKind } from '../../api/kinds/apps/deployment.ts';
import { jobKind } from '../../api/kinds/batch/job.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { replicaSetKind } from '../../api/kinds/apps/replica-set.ts';
import { statefulSetKind } from '../../api/kinds/apps/stateful-set.ts';
import type { KubeObject } from '../../api/object.ts';
import { ClusterError, ClusterReader } from '../../why/reading/cluster-reader.ts';
import type { Client } from '../../client/client.ts';
import type { UnreadResource } from '../../why/explanation/explanation.ts';

export interface ClusterCopy {
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  readonly objects: ReadonlyMap<Kind, readonly KubeObject[]>;
  /** What could not be read, and is missing. */
  readonly unseen: readonly UnreadResource[];
}

/** Without these, no simulation is possible. */
const requiredKinds: readonly Kind[] = [
  untypedKind(namespaceKind),
  untypedKind(nodeKind),
  untypedKind(csiNodeKind),
  untypedKind(storageClassKind),
  untypedKind(persistentVolumeKind),
  untypedKind(persistentVolumeClaimKind),
  untypedKind(volumeAttachmentKind),
  untypedKind(podKind),
];

const optionalKinds: readonly Kind[] = [
  untypedKind(csiDriverKind),
  untypedKind(csiStorageCapacityKind),
  untypedKind(volumeAttributesClassKind),
  untypedKind(deploymentKind),
  untypedKind(replicaSetKind),
  untypedKind(statefulSetKind),
  untypedKind(controllerRevisionKind),
  untypedKind(daemonSetKind),
  untypedKind(jobKind),
  untypedKind(cronJobKind),
  untypedKind(podDisruptionBudgetKind),
  untypedKind(priorityClassKind),
  untypedKind(resourceQuotaKind),
  untypedKind(limitRangeKind),
  untypedKind(serviceKind),
  untypedKind(serviceAccountKind),
  untypedKind(configMapKind),
];

/** @throws ClusterError if the cluster does not answer, or the user may not list a required kind */
export async function copyCluster(client: Client, takenAt: number): Promise<ClusterCopy> {
  const reader = new ClusterReader(client);
  const objects = new Map<Kind, readonly KubeObject[]>();
  for (const kind of requiredKinds) {
    const found = await reader.list(kind);
    if (found === undefined) throw new ClusterError(`cannot read ${kind.plural}: ${reader.unseen.at(-1)?.because ?? ''}`);
    objects.set(kind, found);
  }
  for (const kind of optionalKinds) objects.set(kind, (await reader.list(kind)) ?? []);
  return { takenAt, objects: consistent(objects), unseen: reader.unseen };
}

/** Drops owner references to objects that were not copied: the garbage collector would delete their dependents. Owners of unknown kinds do no harm. */
function consistent(objects: ReadonlyMap<Kind, readonly KubeObject[]>): ReadonlyMap<Kind, readonly KubeObject[]> {
  const uids = new Set([...objects.values()].flat().map(({ metadata }) => metadata.uid));
  const kept = (object: KubeObject): KubeObject => {
    const { ownerReferences } = object.metadata;
    if (ownerReferences === undefined) return object;
    const owners = ownerReferences.filter(({ uid, apiVersion, kind }) => uids.has(uid) || kindByName(apiVersion, kind) === undefined);
    return { ...object, metadata: { ...object.metadata, ownerReferences: owners } };
  };
  return new Map([...objects, [untypedKind(secretKind), emptySecrets(objects)] as const].map(([kind, all]) => [kind, all.map(kept)]));
}

export const allOf = <T extends KubeObject>({ objects }: Pick<ClusterCopy, 'objects'>, kind: Kind<T>): readonly T[] => {
  const found = [...objects].find(([each]) => each.kind === kind.kind && apiVersionOf(each) === apiVersionOf(kind));
  return (found?.[1] ?? []) as readonly T[];
};

/** With the keys that pods refer to, and empty values. */
function emptySecrets(objects: ReadonlyMap<Kind, readonly KubeObject[]>): readonly KubeObject[] {
  const secrets = new Map<string, Secret>();
  const note = (namespace: string, name: string, keys: readonly string[]) => {
    const before = secrets.get(`${namespace}/${name}`)?.data ?? {};
    const data = { ...before, ...Object.fromEntries(keys.map((key) => [key, ''])) };
    secrets.set(`${namespace}/${name}`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name, uid: `secret-${namespace}-${name}` },
      type: 'Opaque',
      data,
    });
  };
  for (const all of objects.values())
    for (const { metadata, ...object } of all) findSecrets(object, (name, keys) => note(metadata.namespace ?? '', name, keys));
  return [...secrets.values()].filter(({ metadata }) => metadata.namespace !== '');
}

/** Wherever a pod, or a template of one, names a secret. */
function findSecrets(value: unknown, found: (name: string, keys: readonly string[]) => void): void {
  if (value === null || typeof value !== 'object') return;
  const { secretKeyRef, secretRef, secretName, secret, items } = value as Mention;
  if (secretKeyRef?.name !== undefined) found(secretKeyRef.name, secretKeyRef.key === undefined ? [] : [secretKeyRef.key]);
  if (secretRef?.name !== undefined) found(secretRef.name, []);
  if (typeof secret?.name === 'string') found(secret.name, keysOf(secret.items));
  if (typeof secretName === 'string') found(secretName, keysOf(items));
  for (const each of Object.values(value)) findSecrets(each, found);
}

interface Mention {
  readonly secretKeyRef?: { readonly name?: string; readonly key?: string };
  readonly secretRef?: { readonly name?: string };
  readonly secretName?: unknown;
  readonly secret?: { readonly name?: unknown; readonly items?: unknown };
  readonly items?: unknown;
}

const keysOf = (items: unknown): readonly string[] =>
  Array.isArray(items) ? items.flatMap((item: { readonly key?: unknown }) => (typeof item.key === 'string' ? [item.key] : [])) : [];
