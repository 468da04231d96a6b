/** Claims that a pod names and cannot have. */
import type { Pod } from '../../api/generated/types.ts';
import { claimKey } from '../../storage/volumes/claim.ts';
import { claimsOfPod } from '../../storage/volumes/pods.ts';
import { nearestNames } from '../../api/nearest-name.ts';
import { deleteObject, kubectl } from '../explanation/commands.ts';
import type { Diagnosis } from '../explanation/explanation.ts';
import { overdue } from '../graph/overdue.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { listed, quoted } from '../explanation/words.ts';

/** Undefined: all are there. */
export function missingClaims(pod: Pod, graph: ObjectGraph): Diagnosis | undefined {
  const { namespace = '' } = pod.metadata;
  const missing = new Set(claimsOfPod(pod).filter((key) => graph.claim(key) === undefined));
  if (missing.size === 0) return undefined;
  const own = (pod.spec.volumes ?? []).find((volume) => volume.ephemeral !== undefined && missing.has(ephemeralKey(pod, volume.name)));
  if (own !== undefined) {
    const late = overdue({ who: 'the ephemeral volume controller', does: 'creates it', by: 'at once' }, { since: pod.metadata.creationTimestamp, graph });
    return {
      verdict: 'waiting',
      code: 'EphemeralClaimMissing',
      summary: `Claim ${ephemeralKey(pod, own.name)} for its volume ${quoted(own.name)} is yet to be made.`,
      ...late,
      // What the server refuses is nobody's decision, so it cannot be computed; the most usual is too little left of a quota.
      fixes: [
        {
          text: 'if it does not come at once, see whether the server refuses it: there may be too little left of a quota',
          commands: [kubectl(namespace, 'describe', 'quota'), kubectl(namespace, 'events', '--for', `pod/${pod.metadata.name ?? ''}`)],
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
    summary: `It uses ${listed(names.map((name) => `pvc/${name}`))}, which ${names.length === 1 ? 'does' : 'do'} not exist in namespace ${namespace}.${
      near.length === 0
        ? ''
        : ` Is ${listed(
            near.map((name) => `pvc/${name}`),
            'or',
          )} meant?`
    }`,
    fixes: [
      {
        text: `create ${listed(names.map((name) => `claim ${name}`))} in namespace ${namespace}; the pod goes on by itself`,
        commands: [],
      },
      ...(near[0] === undefined
        ? []
        : [{ text: `create the pod again with claimName ${near[0]}`, commands: [deleteObject({ kind: 'pod', namespace, name: pod.metadata.name ?? '' })] }]),
    ],
    next: { who: 'you', does: `create ${listed(names.map((name) => `pvc/${name}`))}` },
  };
}

const ephemeralKey = ({ metadata }: Pod, volume: string): string => claimKey(metadata.namespace ?? '', `${metadata.name ?? ''}-${volume}`);

/** A claim that has the name of the pod's own, but was made by somebody else. Undefined: there is none. */
export function notOwned(pod: Pod, graph: ObjectGraph): Diagnosis | undefined {
  for (const volume of pod.spec.volumes ?? []) {
    if (volume.ephemeral === undefined) continue;
    const claim = graph.claim(ephemeralKey(pod, volume.name));
    const owners = claim?.object.metadata.ownerReferences ?? [];
    if (claim === undefined || owners.some(({ controller, uid }) => controller === true && uid === pod.metadata.uid)) continue;
    return {
      verdict: 'stuck',
      code: 'ClaimNotOwned',
      summary: `Its volume ${quoted(volume.name)} needs a claim of its own named ${claim.name}, but a claim of that name exists that was not made for this pod.`,
      fixes: [
        {
          text: `delete that claim, if nobody needs it, or rename the pod or its volume`,
          commands: [deleteObject({ kind: 'pvc', namespace: claim.namespace, name: claim.name })],
        },
      ],
      next: { who: 'you', does: 'remove the claim; the right one is made at once' },
    };
  }
  return undefined;
}
