import type { EphemeralVolumeSource, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { type LastEvent, recordIfChanged } from '../../client/decision.ts';
import { because, type VolumeReason } from '../volumes/decision.ts';
import { type EphemeralVolumeAction, type CreateClaim, type EphemeralVolumeDecision, failedBinding } from './actions.ts';

export interface EphemeralVolumeSnapshot {
  readonly pod: Stored<Pod>;
  /** By name, in the pod's namespace. */
  readonly claim: (name: string) => PersistentVolumeClaim | undefined;
  readonly lastEvent: LastEvent;
}

export interface EphemeralVolume {
  readonly volume: string;
  readonly source: EphemeralVolumeSource;
  readonly claimName: string;
}

/** The generic ephemeral volumes of a pod, in its order. */
export function ephemeralVolumes({ metadata, spec }: Pod): readonly EphemeralVolume[] {
  return (spec.volumes ?? []).flatMap(({ name, ephemeral }) =>
    ephemeral === undefined ? [] : [{ volume: name, source: ephemeral, claimName: `${metadata.name ?? ''}-${name}` }],
  );
}

/**
 * A pod's generic ephemeral volumes have claims of their own, which live as long as the pod: the garbage collector deletes
 * them. A claim of that name which the pod does not own holds other data, and is never taken over.
 * As in Kubernetes, a volume that cannot have its claim keeps those behind it waiting, and only a pod that is being
 * deleted needs none: for one that has finished, a deleted claim is created again.
 */
export function decideClaims({ pod, claim, lastEvent }: EphemeralVolumeSnapshot, now: number): EphemeralVolumeDecision {
  if (pod.metadata.deletionTimestamp !== undefined) return { actions: [], reasons: [because('PodGoes', 'the pod is being deleted', 'none')] };
  const actions: EphemeralVolumeAction[] = [];
  const reasons: VolumeReason[] = [];
  for (const each of ephemeralVolumes(pod)) {
    const found = claim(each.claimName);
    if (found === undefined) {
      actions.push(creation(pod, each));
      reasons.push(because('ClaimMissing', `volume ${each.volume} has no claim ${each.claimName} yet`, 'none'));
    } else if (isOwnedBy(found, pod)) {
      reasons.push(because('ClaimExists', `volume ${each.volume} has its claim ${each.claimName}`, 'none'));
    } else {
      const { namespace = '', name, uid } = pod.metadata;
      const why = `PVC ${namespace}/${each.claimName} was not created for pod ${namespace}/${name} (pod is not owner)`;
      const recorded = recordIfChanged(failedBinding(pod, each.volume, why), lastEvent(uid), now);
      return { actions: [...actions, ...recorded.actions], reasons: [...reasons, because('ForeignClaim', why, 'user')], again: recorded.again };
    }
  }
  return { actions, reasons };
}

/** By uid: the claim of an earlier pod of the same name does not count. */
const isOwnedBy = ({ metadata }: PersistentVolumeClaim, pod: Pod): boolean =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid === pod.metadata.uid;

function creation(pod: Stored<Pod>, { volume, source: { volumeClaimTemplate: template }, claimName }: EphemeralVolume): CreateClaim {
  const { namespace, name, uid } = pod.metadata;
  const { labels, annotations } = template?.metadata ?? {};
  return {
    do: 'create-claim',
    pod,
    volume,
    claim: {
      metadata: {
        namespace,
        name: claimName,
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true }],
      },
      ...(template === undefined ? {} : { spec: template.spec }),
    },
  };
}
