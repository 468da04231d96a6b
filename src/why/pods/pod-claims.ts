/** Claims of a pod that do not exist, or are not its own. */
import type { Stored } from '../../api/stored.ts';
import type { Pod } from '../../api/generated/types.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { nearestNames } from '../../api/nearest-name.ts';
import { deleteObject, kubectl } from '../explanation/commands.ts';
import type { Diagnosis } from '../explanation/explanation.ts';
import { claimRefusals, quotaExceeded } from '../quotas/quota-refusals.ts';
import { overdue } from '../graph/overdue.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { listed, quoted } from '../explanation/words.ts';

/** Undefined: all claims exist. */
export function missingClaims(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis | undefined {
  const { namespace = '' } = pod.metadata;
  const missing = new Set(claimsOfPod(pod).filter((key) => graph.claim(key) === undefined));
  if (missing.size === 0) return undefined;
  const own = (pod.spec.volumes ?? []).find((volume) => volume.ephemeral !== undefined && missing.has(ephemeralKey(pod, volume.name)));
  if (own !== undefined) {
    const claimName = `${pod.metadata.name}-${own.name}`;
    const spec = own.ephemeral?.volumeClaimTemplate?.spec;
    const claim =
      spec === undefined ? undefined : { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { namespace, name: claimName }, spec, status: {} };
    const refusals = claim === undefined ? [] : claimRefusals(claim, graph);
    if (refusals.length > 0) return quotaExceeded(`pvc/${claimName} of the pod's ephemeral volume`, refusals, namespace);
    const late = overdue({ who: 'the ephemeral volume controller', does: 'creates it', by: 'at once' }, { since: pod.metadata.creationTimestamp, graph });
    return {
      verdict: 'waiting',
      code: 'EphemeralClaimMissing',
      summary: `Claim ${ephemeralKey(pod, own.name)} for the pod's ephemeral volume ${quoted(own.name)} is not created yet.`,
      ...late,
      // A refusal by the server is no controller's decision, so it is not in the objects; the usual one is an exceeded quota.
      fixes: [
        {
          text: 'if it is not created at once, check whether the server refuses it: a ResourceQuota may be exceeded',
          commands: [kubectl(namespace, 'describe', 'quota'), kubectl(namespace, 'events', '--for', `pod/${pod.metadata.name}`)],
        },
        ...late.fixes,
      ],
    };
  }
  const names = [...missing].map((key) => key.slice(namespace.length + 1));
  const known = graph.claims.filter((claim) => claim.namespace === namespace).map(({ name }) => name);
  const near = nearestNames(names[0] ?? '', known);
  return {
    verdict: 'stuck',
    code: 'ClaimMissing',
    summary: `The pod uses ${listed(names.map((name) => `pvc/${name}`))}, which ${names.length === 1 ? 'does' : 'do'} not exist in namespace ${namespace}.${
      near.length === 0
        ? ''
        : ` Is ${listed(
            near.map((name) => `pvc/${name}`),
            'or',
          )} meant?`
    }`,
    fixes: [
      {
        text: `create ${listed(names.map((name) => `claim ${name}`))} in namespace ${namespace}; then the pod is scheduled`,
        commands: [],
      },
      ...(near[0] === undefined
        ? []
        : [{ text: `create the pod again with claimName ${near[0]}`, commands: [deleteObject({ kind: 'pod', namespace, name: pod.metadata.name })] }]),
    ],
    next: { who: 'you', does: `create ${listed(names.map((name) => `pvc/${name}`))}` },
  };
}

const ephemeralKey = ({ metadata }: Stored<Pod>, volume: string): string => claimKey(metadata.namespace ?? '', `${metadata.name}-${volume}`);

/** A claim with the name of the pod's ephemeral volume that was not created for this pod. Undefined: there is none. */
export function notOwned(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis | undefined {
  for (const volume of pod.spec.volumes ?? []) {
    if (volume.ephemeral === undefined) continue;
    const claim = graph.claim(ephemeralKey(pod, volume.name));
    const owners = claim?.object.metadata.ownerReferences ?? [];
    if (claim === undefined || owners.some(({ controller, uid }) => controller === true && uid === pod.metadata.uid)) continue;
    return {
      verdict: 'stuck',
      code: 'ClaimNotOwned',
      summary: `The pod's ephemeral volume ${quoted(volume.name)} needs a claim named ${claim.name}, but a claim of that name exists that was not created for this pod.`,
      fixes: [
        {
          text: 'delete that claim, if it is not needed, or rename the pod or its volume',
          commands: [deleteObject({ kind: 'pvc', namespace: claim.namespace, name: claim.name })],
        },
      ],
      next: { who: 'you', does: 'delete the claim; the right one is created at once' },
    };
  }
  return undefined;
}
