/**
 * A copy of a cluster that lives, to ask what would happen to it. Lists are all that is asked of it. Secrets are not among them:
 * empty ones stand in their places.
 */
import type { Secret } from '../../api/generated/types.ts';
import { apiVersionOf, erased, type Kind } from '../../api/kind.ts';
import { configMapKind } from '../../api/kinds/config-map.ts';
import { csiDriverKind } from '../../api/kinds/csi-driver.ts';
import { csiNodeKind } from '../../api/kinds/csi-node.ts';
import { csiStorageCapacityKind } from '../../api/kinds/csi-storage-capacity.ts';
import { kindByName } from '../../api/kinds/index.ts';
import { limitRangeKind } from '../../api/kinds/limit-range.ts';
import { namespaceKind } from '../../api/kinds/namespace.ts';
import { nodeKind } from '../../api/kinds/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/persistent-volume.ts';
import { podDisruptionBudgetKind } from '../../api/kinds/pod-disruption-budget.ts';
import { priorityClassKind } from '../../api/kinds/priority-class.ts';
import { resourceQuotaKind } from '../../api/kinds/resource-quota.ts';
import { secretKind } from '../../api/kinds/secret.ts';
import { serviceAccountKind } from '../../api/kinds/service-account.ts';
import { serviceKind } from '../../api/kinds/service.ts';
import { storageClassKind } from '../../api/kinds/storage-class.ts';
import { volumeAttachmentKind } from '../../api/kinds/volume-attachment.ts';
import { volumeAttributesClassKind } from '../../api/kinds/volume-attributes-class.ts';
import { controllerRevisionKind } from '../../api/kinds/workloads/controller-revision.ts';
import { cronJobKind } from '../../api/kinds/workloads/cron-job.ts';
import { daemonSetKind } from '../../api/kinds/workloads/daemon-set.ts';
import { deploymentKind } from '../../api/kinds/workloads/deployment.ts';
import { jobKind } from '../../api/kinds/workloads/job.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { replicaSetKind } from '../../api/kinds/workloads/replica-set.ts';
import { statefulSetKind } from '../../api/kinds/workloads/stateful-set.ts';
import type { KubeObject } from '../../api/object.ts';
import { ClusterError, ClusterReader } from '../../cli/cluster-reader.ts';
import type { Client } from '../../machinery/client.ts';
import type { Unseen } from '../../why/explanation.ts';

export interface ClusterCopy {
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  readonly objects: ReadonlyMap<Kind, readonly KubeObject[]>;
  /** What could not be looked at, and is not there. */
  readonly unseen: readonly Unseen[];
}

/** Without these nothing can be said. */
const needed: readonly Kind[] = [
  erased(namespaceKind),
  erased(nodeKind),
  erased(csiNodeKind),
  erased(storageClassKind),
  erased(persistentVolumeKind),
  erased(persistentVolumeClaimKind),
  erased(volumeAttachmentKind),
  erased(podKind),
];

const welcome: readonly Kind[] = [
  erased(csiDriverKind),
  erased(csiStorageCapacityKind),
  erased(volumeAttributesClassKind),
  erased(deploymentKind),
  erased(replicaSetKind),
  erased(statefulSetKind),
  erased(controllerRevisionKind),
  erased(daemonSetKind),
  erased(jobKind),
  erased(cronJobKind),
  erased(podDisruptionBudgetKind),
  erased(priorityClassKind),
  erased(resourceQuotaKind),
  erased(limitRangeKind),
  erased(serviceKind),
  erased(serviceAccountKind),
  erased(configMapKind),
];

/** @throws ClusterError if the cluster does not answer, or does not let itself be looked at */
export async function copyCluster(client: Client, takenAt: number): Promise<ClusterCopy> {
  const reader = new ClusterReader(client);
  const objects = new Map<Kind, readonly KubeObject[]>();
  for (const kind of needed) {
    const found = await reader.list(kind);
    if (found === undefined) throw new ClusterError(`cannot look at ${kind.plural}: ${reader.unseen.at(-1)?.because ?? ''}`);
    objects.set(kind, found);
  }
  for (const kind of welcome) objects.set(kind, (await reader.list(kind)) ?? []);
  return { takenAt, objects: consistent(objects), unseen: reader.unseen };
}

/** Whose owner was not copied would be taken for garbage; owners of kinds that nobody serves here do no harm. */
function consistent(objects: ReadonlyMap<Kind, readonly KubeObject[]>): ReadonlyMap<Kind, readonly KubeObject[]> {
  const uids = new Set([...objects.values()].flat().map(({ metadata }) => metadata.uid));
  const kept = (object: KubeObject): KubeObject => {
    const { ownerReferences } = object.metadata;
    if (ownerReferences === undefined) return object;
    const owners = ownerReferences.filter(({ uid, apiVersion, kind }) => uids.has(uid) || kindByName(apiVersion, kind) === undefined);
    return { ...object, metadata: { ...object.metadata, ownerReferences: owners } };
  };
  return new Map([...objects, [erased(secretKind), emptySecrets(objects)] as const].map(([kind, all]) => [kind, all.map(kept)]));
}

export const allOf = <T extends KubeObject>({ objects }: Pick<ClusterCopy, 'objects'>, kind: Kind<T>): readonly T[] => {
  const found = [...objects].find(([each]) => each.kind === kind.kind && apiVersionOf(each) === apiVersionOf(kind));
  return (found?.[1] ?? []) as readonly T[];
};

/** With the keys that somebody asks for, and nothing in them. */
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
