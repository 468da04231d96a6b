/** Objects that were told to go and are still there. */
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

/** Undefined: nobody asked for the claim's deletion. */
export function diagnoseTerminatingClaim(claim: Claim, graph: ObjectGraph): Diagnosis | undefined {
  const { object } = claim;
  if (object.metadata.deletionTimestamp === undefined) return undefined;
  const users = graph.podsUsing(claim.key).filter((pod) => usesClaim(pod, object));
  const decision = decideProtection({ object, users: users.map(({ metadata }) => `pod ${metadata.name ?? ''}`) }, claimFinalizer);
  if (decision.reasons.some(({ code }) => code === 'InUse')) return inUse(object, users, graph);
  if (!graph.wasRead('pods') && object.metadata.finalizers?.includes(claimFinalizer) === true) {
    return {
      verdict: 'waiting',
      code: 'DeletionWaits',
      summary: 'It is to be deleted as soon as no pod uses it; which pods do could not be looked at.',
      next: { who: 'whoever runs pods with it', does: 'ends them; then it goes' },
    };
  }
  return lastFinalizers(object, claimFinalizer, 'no pod uses it any more');
}

function inUse({ metadata }: PersistentVolumeClaim, pods: readonly Pod[], graph: ObjectGraph): Diagnosis {
  const ending = pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined);
  const named = someOf(pods.map(describePod));
  return {
    verdict: ending.length === pods.length ? 'waiting' : 'stuck',
    code: 'DeletionBlockedByPods',
    summary: `It was told to go, but ${plural(pods.length, 'pod')} still ${pods.length === 1 ? 'uses' : 'use'} it: ${named}. Finalizer ${claimFinalizer} keeps it until ${pods.length === 1 ? 'that pod is' : 'they are'} deleted; a pod that has ended counts as long as it exists.`,
    fixes: endPods(pods, metadata.namespace ?? ''),
    next: endOf(pods, graph),
  };
}

const describePod = ({ metadata, status }: Pod): string =>
  `pod/${metadata.name ?? ''} (${metadata.deletionTimestamp === undefined ? (status.phase ?? 'Pending') : 'Terminating'})`;

/** How to get rid of pods: their owner would only make new ones. */
export function endPods(pods: readonly Pod[], namespace: string): readonly Fix[] {
  const lasting = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const fixes = new Map<string, Fix>();
  for (const { metadata } of lasting) {
    const { name = '' } = metadata;
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    const fix = owner === undefined ? undefined : scaleDown({ name, namespace, owner });
    if (fix !== undefined) fixes.set(`${owner?.kind} ${owner?.name}`, fix);
    else if (fixes.size < 3) fixes.set(name, { text: `delete pod/${name}, once nobody needs it`, commands: [kubectl(namespace, 'delete', 'pod', name)] });
  }
  return [...fixes.values()];
}

interface OwnedPod {
  readonly name: string;
  readonly namespace: string;
  readonly owner: { readonly kind: string; readonly name: string };
}

function scaleDown({ name, namespace, owner }: OwnedPod): Fix | undefined {
  const text = `scale ${owner.kind} ${owner.name} down: it would start pod/${name} again`;
  switch (owner.kind) {
    case 'StatefulSet': {
      const ordinal = /-(\d+)$/.exec(name)?.[1] ?? '0';
      return { text, commands: [kubectl(namespace, 'scale', 'statefulset', owner.name, `--replicas=${ordinal}`)] };
    }
    case 'ReplicaSet': {
      // Nearly all belong to a Deployment, whose name they carry.
      const deployment = /^(.+)-[0-9a-z]{6,10}$/.exec(owner.name)?.[1];
      if (deployment === undefined) return { text, commands: [kubectl(namespace, 'scale', 'replicaset', owner.name, '--replicas=0')] };
      return {
        text: `scale Deployment ${deployment} down: it would start such a pod again`,
        commands: [kubectl(namespace, 'scale', 'deployment', deployment, '--replicas=0')],
      };
    }
    default:
      return undefined;
  }
}

/** When the pods are gone, if they are on their way. */
export function endOf(pods: readonly Pod[], graph: ObjectGraph): Next {
  const times = pods.map(({ metadata }) => timeOf(metadata.deletionTimestamp));
  if (times.includes(undefined))
    return {
      who: 'you',
      does: `end ${listed(pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => `pod/${metadata.name ?? ''}`))}; then it goes on by itself`,
    };
  const last = Math.max(...times.map((time) => time ?? 0));
  const nodes = listed([...new Set(pods.map(({ spec }) => spec.nodeName ?? ''))].filter((name) => name !== '').map((name) => `node/${name}`));
  if (last < graph.now) return { who: nodes, does: 'has to confirm that the containers ended, and is late' };
  return { who: nodes, does: 'ends the containers', by: rfc3339(last) };
}

/** Undefined: nobody asked for the volume's deletion. */
export function diagnoseTerminatingVolume(volume: Volume, graph: ObjectGraph): Diagnosis | undefined {
  const { object, phase } = volume;
  if (object.metadata.deletionTimestamp === undefined) return undefined;
  const { spec } = object;
  const claim = volume.claim?.key ?? '';
  const users = isUsedBy(volume, graph.claim(claim)) ? [`claim ${claim}`] : [];
  const decision = decideProtection({ object, users }, volumeFinalizer);
  if (!decision.reasons.some(({ code }) => code === 'InUse')) {
    const isClaimUnknown = volume.claim !== undefined && volume.claim.uid !== '' && !graph.wasRead('claims');
    return lastFinalizers(object, volumeFinalizer, isClaimUnknown ? `whether claim ${claim} takes it could not be looked at` : 'no claim is bound to it');
  }
  return {
    verdict: 'stuck',
    code: 'DeletionBlockedByClaim',
    summary: `It was told to go, but claim ${claim} ${phase === 'Bound' ? 'is bound to it' : 'takes it: it was made for that claim'}. Finalizer ${volumeFinalizer} keeps it until that claim is deleted.`,
    fixes: [
      {
        text: `delete claim ${claim}, once its pods need it no more`,
        commands: [kubectl(spec.claimRef?.namespace, 'delete', 'pvc', spec.claimRef?.name ?? '')],
      },
    ],
    next: { who: 'you', does: `delete claim ${claim}; then it goes by itself` },
  };
}

/** Whose finalizers are whose, and what they do before they let go. */
const finalizerOwners: ReadonlyMap<string, { readonly who: string; readonly first: string }> = new Map([
  [provisionerFinalizers.inTreeProvisioner, { who: 'the volume controller', first: 'deletes the storage behind it' }],
  [provisionerFinalizers.externalProvisioner, { who: 'its provisioner', first: 'deletes the storage behind it' }],
  ['foregroundDeletion', { who: 'the garbage collector', first: 'deletes what belongs to it' }],
  ['orphan', { who: 'the garbage collector', first: 'lets go of what belongs to it' }],
]);

function finalizerOwner(finalizer: string): { readonly who: string; readonly first: string } {
  const attacher = /^external-attacher\/(.+)$/.exec(finalizer)?.[1];
  if (attacher !== undefined) return { who: `the attacher of ${attacher}`, first: 'detaches it' };
  return finalizerOwners.get(finalizer) ?? { who: `whoever set ${finalizer}`, first: 'finishes' };
}

/** Nobody uses it: the protection goes by itself; other finalizers are other people's. */
export function lastFinalizers({ metadata }: KubeObject, own: string, unused: string): Diagnosis {
  const foreign = (metadata.finalizers ?? []).filter((name) => name !== own);
  const [first] = foreign;
  if (first === undefined) {
    return {
      verdict: 'waiting',
      code: 'DeletionUnderWay',
      summary: `It was told to go, and ${unused}.`,
      next: { who: 'the protection controller', does: 'lets it go', by: 'at once' },
    };
  }
  const keeper = finalizerOwner(first);
  return {
    verdict: 'waiting',
    code: 'DeletionBlockedByFinalizer',
    summary: `It was told to go, and ${unused}, but ${foreign.length === 1 ? 'a finalizer keeps' : 'finalizers keep'} it: ${listed(foreign)}.`,
    fixes: [{ text: `see that ${keeper.who} is running and able to work; a finalizer that is taken away by hand may leave storage behind`, commands: [] }],
    next: { who: keeper.who, does: `${keeper.first}, and then removes its finalizer` },
  };
}
