/** Objects with a deletionTimestamp that still exist. */
import type { Stored } from '../../api/stored.ts';
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { decideProtection } from '../../storage/protection/decide.ts';
import { isUsedBy, usesClaim } from '../../storage/protection/usage.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { finalizers as provisionerFinalizers } from '../../api/volumes/annotations.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Fix, Next, Diagnosis } from '../explanation/explanation.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { timeOf, rfc3339 } from '../explanation/timestamps.ts';
import { listed, plural, someOf } from '../explanation/words.ts';

const claimFinalizer = 'kubernetes.io/pvc-protection';
const volumeFinalizer = 'kubernetes.io/pv-protection';

/** Undefined: the claim is not terminating. */
export function diagnoseTerminatingClaim(claim: Claim, graph: ObjectGraph): Diagnosis | undefined {
  const { object } = claim;
  if (object.metadata.deletionTimestamp === undefined) return undefined;
  const users = graph.podsUsing(claim.key).filter((pod) => usesClaim(pod, object));
  const decision = decideProtection({ object, users: users.map(({ metadata }) => `pod ${metadata.name}`) }, claimFinalizer);
  if (decision.reasons.some(({ code }) => code === 'InUse')) return inUse(object, users, graph);
  if (!graph.wasRead('pods') && object.metadata.finalizers?.includes(claimFinalizer) === true) {
    return {
      verdict: 'waiting',
      code: 'DeletionWaits',
      summary: 'The claim is marked for deletion, and is deleted when no pod uses it; the pods could not be read.',
      next: { who: 'the users of the claim', does: 'delete their pods; then the claim is deleted' },
    };
  }
  return lastFinalizers(object, claimFinalizer, 'no pod uses it any more', 'claim');
}

function inUse({ metadata }: PersistentVolumeClaim, pods: readonly Stored<Pod>[], graph: ObjectGraph): Diagnosis {
  const ending = pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined);
  const named = someOf(pods.map(describePod));
  return {
    verdict: ending.length === pods.length ? 'waiting' : 'stuck',
    code: 'DeletionBlockedByPods',
    summary: `The claim is marked for deletion, but ${plural(pods.length, 'pod')} still ${pods.length === 1 ? 'uses' : 'use'} it: ${named}. Finalizer ${claimFinalizer} keeps it until ${pods.length === 1 ? 'that pod is' : 'they are'} deleted; a pod that has ended counts as long as it exists.`,
    fixes: endPods(pods, metadata.namespace ?? ''),
    next: endOf(pods, graph),
  };
}

const describePod = ({ metadata, status }: Stored<Pod>): string =>
  `pod/${metadata.name} (${metadata.deletionTimestamp === undefined ? (status.phase ?? 'Pending') : 'Terminating'})`;

/** How to end pods: their controller would only create new ones. */
export function endPods(pods: readonly Stored<Pod>[], namespace: string): readonly Fix[] {
  const lasting = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const fixes = new Map<string, Fix>();
  for (const { metadata } of lasting) {
    const { name } = metadata;
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    const fix = owner === undefined ? undefined : scaleDown({ name, namespace, owner });
    if (fix !== undefined) fixes.set(`${owner?.kind} ${owner?.name}`, fix);
    else if (fixes.size < 3)
      fixes.set(name, { text: `delete pod/${name}, once it is not needed any more`, commands: [kubectl(namespace, 'delete', 'pod', name)] });
  }
  return [...fixes.values()];
}

interface OwnedPod {
  readonly name: string;
  readonly namespace: string;
  readonly owner: { readonly kind: string; readonly name: string };
}

function scaleDown({ name, namespace, owner }: OwnedPod): Fix | undefined {
  const text = `scale ${owner.kind} ${owner.name} down: it would create pod/${name} again`;
  switch (owner.kind) {
    case 'StatefulSet': {
      const ordinal = /-(\d+)$/.exec(name)?.[1] ?? '0';
      return { text, commands: [kubectl(namespace, 'scale', 'statefulset', owner.name, `--replicas=${ordinal}`)] };
    }
    case 'ReplicaSet': {
      // Nearly all belong to a Deployment, whose name they begin with.
      const deployment = /^(.+)-[0-9a-z]{6,10}$/.exec(owner.name)?.[1];
      if (deployment === undefined) return { text, commands: [kubectl(namespace, 'scale', 'replicaset', owner.name, '--replicas=0')] };
      return {
        text: `scale Deployment ${deployment} down: it would create such a pod again`,
        commands: [kubectl(namespace, 'scale', 'deployment', deployment, '--replicas=0')],
      };
    }
    default:
      return undefined;
  }
}

/** When the pods are gone, if they are terminating. */
export function endOf(pods: readonly Stored<Pod>[], graph: ObjectGraph): Next {
  const times = pods.map(({ metadata }) => timeOf(metadata.deletionTimestamp));
  if (times.includes(undefined))
    return {
      who: 'you',
      does: `delete ${listed(pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => `pod/${metadata.name}`))}; the rest follows by itself`,
    };
  const last = Math.max(...times.map((time) => time ?? 0));
  const nodes = listed([...new Set(pods.map(({ spec }) => spec.nodeName ?? ''))].filter((name) => name !== '').map((name) => `node/${name}`));
  if (last < graph.now) return { who: nodes, does: 'has to confirm that the containers have ended, and is late' };
  return { who: nodes, does: 'ends the containers', by: rfc3339(last) };
}

/** Undefined: the volume is not terminating. */
export function diagnoseTerminatingVolume(volume: Volume, graph: ObjectGraph): Diagnosis | undefined {
  const { object, phase } = volume;
  if (object.metadata.deletionTimestamp === undefined) return undefined;
  const { spec } = object;
  const claim = volume.claim?.key ?? '';
  const users = isUsedBy(volume, graph.claim(claim)) ? [`claim ${claim}`] : [];
  const decision = decideProtection({ object, users }, volumeFinalizer);
  if (!decision.reasons.some(({ code }) => code === 'InUse')) {
    const isClaimUnknown = volume.claim !== undefined && volume.claim.uid !== '' && !graph.wasRead('claims');
    return lastFinalizers(object, volumeFinalizer, isClaimUnknown ? `claim ${claim} could not be read` : 'no claim is bound to it', 'volume');
  }
  return {
    verdict: 'stuck',
    code: 'DeletionBlockedByClaim',
    summary: `The volume is marked for deletion, but claim ${claim} ${phase === 'Bound' ? 'is bound to it' : 'will be bound to it: it was provisioned for that claim'}. Finalizer ${volumeFinalizer} keeps it until that claim is deleted.`,
    fixes: [
      {
        text: `delete claim ${claim}, once its pods do not need it any more`,
        commands: [kubectl(spec.claimRef?.namespace, 'delete', 'pvc', spec.claimRef?.name ?? '')],
      },
    ],
    next: { who: 'you', does: `delete claim ${claim}; then the volume is deleted` },
  };
}

/** The component that removes each finalizer, and what it does first. */
const finalizerOwners: ReadonlyMap<string, { readonly who: string; readonly first: string }> = new Map([
  [provisionerFinalizers.inTreeProvisioner, { who: 'the volume controller', first: 'deletes the storage behind it' }],
  [provisionerFinalizers.externalProvisioner, { who: 'its provisioner', first: 'deletes the storage behind it' }],
  ['foregroundDeletion', { who: 'the garbage collector', first: 'deletes its dependents' }],
  ['orphan', { who: 'the garbage collector', first: 'orphans its dependents' }],
]);

function finalizerOwner(finalizer: string): { readonly who: string; readonly first: string } {
  const attacher = /^external-attacher\/(.+)$/.exec(finalizer)?.[1];
  if (attacher !== undefined) return { who: `the attacher of ${attacher}`, first: 'detaches it' };
  return finalizerOwners.get(finalizer) ?? { who: `the owner of finalizer ${finalizer}`, first: 'finishes its work' };
}

/** The object is not in use: the protection controller removes its own finalizer, other components theirs. */
function lastFinalizers({ metadata }: KubeObject, own: string, unused: string, what: 'claim' | 'volume'): Diagnosis {
  const foreign = (metadata.finalizers ?? []).filter((name) => name !== own);
  const [first] = foreign;
  if (first === undefined) {
    return {
      verdict: 'waiting',
      code: 'DeletionUnderWay',
      summary: `The ${what} is marked for deletion, and ${unused}.`,
      next: { who: 'the protection controller', does: 'removes its finalizer', by: 'at once' },
    };
  }
  const owner = finalizerOwner(first);
  return {
    verdict: 'waiting',
    code: 'DeletionBlockedByFinalizer',
    summary: `The ${what} is marked for deletion, and ${unused}, but ${foreign.length === 1 ? 'a finalizer keeps' : 'finalizers keep'} it: ${listed(foreign)}.`,
    fixes: [{ text: `check that ${owner.who} runs and can do its work; a finalizer that is removed by hand may leave storage behind`, commands: [] }],
    next: { who: owner.who, does: `${owner.first}, and then removes its finalizer` },
  };
}
