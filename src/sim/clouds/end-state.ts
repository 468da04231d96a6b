/** What is left to do in a cloud world once nothing fails any more. */
import { untypedKind } from '../../api/kind.ts';
import { deploymentKind } from '../../api/kinds/apps/deployment.ts';
import { statefulSetKind } from '../../api/kinds/apps/stateful-set.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { volumeAttachmentKind } from '../../api/kinds/storage/volume-attachment.ts';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import { providerIdOf } from '../../cluster/cloud/instance-nodes.ts';
import { isLaunched } from '../../cluster/cloud/node-provider.ts';
import type { ObjectHistory } from '../scenario/object-history.ts';

export interface EndStateContext {
  readonly history: ObjectHistory;
  readonly cloud: Cloud;
}

/** Undefined: all pods run, and the cloud has what the objects name, no more and no less. */
export function cloudLeftUndone(context: EndStateContext): string | undefined {
  return unreadyWorkload(context) ?? goingObject(context) ?? leakedInstance(context) ?? leakedVolume(context);
}

/** Undefined: of all that there was, nothing is left in the cluster or in the cloud. */
export function cloudNotEmpty(context: EndStateContext): string | undefined {
  const { history } = context;
  for (const kind of goneKinds) {
    const [left] = history.all(kind);
    if (left !== undefined) return `${kind.kind} ${left.metadata.name} is left`;
  }
  return leakedInstance(context) ?? leakedVolume(context);
}

const workloadKinds = [untypedKind(statefulSetKind), untypedKind(deploymentKind)];
const volumeKinds = [untypedKind(persistentVolumeClaimKind), untypedKind(persistentVolumeKind)];
const goneKinds = [untypedKind(podKind), untypedKind(nodeClaimKind), untypedKind(volumeAttachmentKind), ...volumeKinds];
const goingKinds = [untypedKind(podKind), untypedKind(nodeClaimKind), untypedKind(nodeKind), ...volumeKinds];

function unreadyWorkload({ history }: EndStateContext): string | undefined {
  for (const kind of workloadKinds)
    for (const object of history.all(kind)) {
      const { spec, status } = object as unknown as { spec: { replicas?: number }; status?: { readyReplicas?: number; replicas?: number } };
      const [wanted, ready, all] = [spec.replicas ?? 1, status?.readyReplicas ?? 0, status?.replicas ?? 0];
      if (ready !== wanted || all !== wanted) return `${kind.kind} ${object.metadata.name} has ${ready} ready pods of ${wanted}`;
    }
  return undefined;
}

function goingObject({ history }: EndStateContext): string | undefined {
  for (const kind of goingKinds)
    for (const { metadata } of history.all(kind)) if (metadata.deletionTimestamp !== undefined) return `${kind.kind} ${metadata.name} is being deleted`;
  return undefined;
}

/** Each instance has its NodeClaim and its Node, and the other way round. */
function leakedInstance({ history, cloud }: EndStateContext): string | undefined {
  const alive = [...cloud.state.instances.values()].filter(({ state }) => state !== 'terminated' && state !== 'shutting-down');
  const instances = new Set(alive.filter(isLaunched).map(providerIdOf));
  const claims = new Set(history.all(nodeClaimKind).map(({ status }) => status?.providerID ?? ''));
  const nodes = new Set(
    history.all(nodeKind).flatMap(({ metadata, spec }) => (metadata.labels?.['karpenter.sh/nodepool'] === undefined ? [] : (spec.providerID ?? []))),
  );
  for (const id of instances) if (!claims.has(id)) return `no instance leaks: ${id} has no NodeClaim`;
  for (const id of instances) if (!nodes.has(id)) return `instance ${id} has no Node`;
  for (const id of claims) if (!instances.has(id)) return `a NodeClaim names the instance "${id}", which does not exist`;
  for (const id of nodes) if (!instances.has(id)) return `a Node names the instance ${id}, which does not exist`;
  return undefined;
}

/** Root volumes go with their instances; all others are of a PersistentVolume. */
function leakedVolume({ history, cloud }: EndStateContext): string | undefined {
  const handles = new Set(history.all(persistentVolumeKind).flatMap(({ spec }) => spec.csi?.volumeHandle ?? []));
  const attached = new Map(history.all(volumeAttachmentKind).map(({ spec }) => [spec.source.persistentVolumeName ?? '', spec.nodeName]));
  for (const { id, attachments } of cloud.state.volumes.values()) {
    if (attachments.some(({ deleteOnTermination }) => deleteOnTermination)) continue;
    if (!handles.has(id)) return `no volume leaks: ${id} has no PersistentVolume`;
  }
  for (const { metadata, spec } of history.all(persistentVolumeKind)) {
    const volume = cloud.state.volumes.get(spec.csi?.volumeHandle ?? '');
    if (volume === undefined) return `the volume of PersistentVolume ${metadata.name} does not exist`;
    if (volume.attachments.length > 0 !== attached.has(metadata.name)) return `${volume.id} is attached, or not, otherwise than its VolumeAttachment says`;
  }
  return undefined;
}
