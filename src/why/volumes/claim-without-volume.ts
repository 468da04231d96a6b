/** Claims that no volume fits, and claims whose binding waits for a pod (WaitForFirstConsumer). */
import type { Stored } from '../../api/stored.ts';
import type { Pod } from '../../api/generated/types.ts';
import { showAmount } from '../../api/volumes/capacity.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { shown, type VolumeCandidate, volumesFor } from '../candidates/volume-candidates.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Fact, Fix, Diagnosis } from '../explanation/explanation.ts';
import { nodeFixes, noNode } from '../candidates/node-fixes.ts';
import { nodesFor } from '../candidates/node-candidates.ts';
import { noProvisioner } from '../graph/provisioner-evidence.ts';
import { isReleased, remake, repairsOf } from '../candidates/volume-fixes.ts';
import { refusedClaims, schedulerMessage } from '../candidates/scheduler-message.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import type { ClaimWithReason } from './claim-with-reason.ts';
import { zonesInClass } from './zones-in-class.ts';
import { requestFact, requirementText, inClass, listed, quoted, someOf } from '../explanation/words.ts';

/** No volume fits, and no provisioner creates one. */
export function noVolume({ claim, graph }: ClaimWithReason): Diagnosis {
  const candidates = volumesFor(claim, graph);
  return {
    verdict: 'stuck',
    code: 'NoVolumeFits',
    summary: `${noneFits(claim, candidates, graph)}${whyNotMade(claim, graph)}`,
    facts: [requestFact(claim)],
    candidates: candidates.map(shown),
    fixes: [...newVolume(claim), ...repairsOf(claim, candidates), ...classFixes(claim, graph)],
    next: { who: 'an administrator', does: 'creates a volume that fits, or changes one; it is bound at once' },
  };
}

function whyNotMade({ class: asked }: Claim, graph: ObjectGraph): string {
  if (asked.type === 'none')
    return ' Its storageClassName is "": only an existing volume without a StorageClass can be bound to it, and none is ever provisioned.';
  return asked.type === 'unset' && graph.wasRead('classes')
    ? ' It has no storageClassName, and there is no default StorageClass to provision a volume from.'
    : '';
}

/** One sentence: what the nearest misses have in common. */
export function noneFits(claim: Claim, candidates: readonly VolumeCandidate[], graph: ObjectGraph): string {
  if (!graph.wasRead('volumes')) return 'No volume is bound to the claim; the volumes could not be read.';
  if (candidates.length === 0) return 'There are no volumes at all.';
  const released = candidates.find(
    ({ volume, refusals: [first, ...others] }) => first?.rule === 'claimedByAnother' && others.length === 0 && isReleased(volume),
  );
  if (released !== undefined) {
    const { name, volume } = released;
    return `No volume that fits is Available; ${name} would fit, but is ${volume.phase}: it keeps its data and the reference to claim ${volume.claim?.key ?? ''}, which is deleted.`;
  }
  const near = candidates.filter(({ refusals }) => refusals.length === 1 && !refusals.some(({ rule }) => rule === 'claimedByAnother' || rule === 'deleting'));
  // Volumes of the claim's own StorageClass come first.
  const own = near.filter(({ refusals }) => !refusals.some(({ rule }) => rule === 'class'));
  const meant = own.length > 0 ? own : near;
  const rules = new Set(meant.flatMap(({ refusals }) => refusals.map(({ rule }) => rule)));
  const [rule] = rules;
  const nearest = meant[0];
  if (nearest === undefined || rule === undefined || rules.size > 1) return 'No volume fits.';
  return sentences[rule]?.(claim, nearest.name) ?? `No volume fits: ${nearest.name}, which comes nearest, ${nearest.refusals[0]?.text ?? ''}.`;
}

const sentences: Readonly<Record<string, ((claim: Claim, nearest: string) => string) | undefined>> = {
  capacity: ({ request }, nearest) => `No volume is large enough for ${showAmount(request)}; ${nearest} comes nearest.`,
  accessModes: (_, nearest) => `No volume has the access modes that the claim requests; ${nearest} would fit otherwise.`,
  class: ({ className }, nearest) => `No volume ${inClass(className)} fits; ${nearest} would fit but for its StorageClass.`,
  nodeAffinity: (_, nearest) => `No volume has a node affinity that a node satisfies; ${nearest} would fit otherwise.`,
  selector: (_, nearest) => `No volume has the labels that the claim's selector requires; ${nearest} would fit otherwise.`,
};

const newVolume = (claim: Claim): readonly Fix[] => [{ text: `create a volume ${requirementText(claim)}`, commands: [] }];

/** A StorageClass could provision a volume. */
function classFixes(claim: Claim, graph: ObjectGraph): readonly Fix[] {
  const names = graph.classes.map(({ metadata }) => metadata.name);
  const [first] = names;
  if (first === undefined) return [];
  if (claim.class.type === 'none') return [remake(claim, `with a StorageClass (${someOf(names.map(quoted))}), so that a volume can be provisioned`)];
  const annotation = 'storageclass.kubernetes.io/is-default-class=true';
  return [
    {
      text: `make a StorageClass the default (${someOf(names.map(quoted))}): claims without a storageClassName get it at once`,
      commands: [kubectl(undefined, 'annotate', 'storageclass', first, annotation, '--overwrite')],
    },
  ];
}

/** WaitForFirstConsumer, and no pod waits to be scheduled. */
export function waitForConsumer({ claim, graph }: ClaimWithReason): Diagnosis {
  const zones = zonesInClass({ claim, graph });
  if (zones !== undefined) return zones;
  const users = graph.podsUsing(claim.key);
  const placed = users.filter((pod) => (pod.spec.nodeName ?? '') !== '' && !hasEnded(pod));
  if (placed.length > 0) return bypassed(claim, placed);
  const ended = users.filter(hasEnded);
  const facts = usualFacts(claim, graph);
  const alsoEnded = ended.length === 0 ? '' : ` (${someOf(ended.map(name))} has ended, which does not count)`;
  return {
    verdict: 'waiting',
    code: 'WaitForFirstConsumer',
    summary: `Nothing is wrong: StorageClass ${quoted(claim.className)} has volumeBindingMode WaitForFirstConsumer, so a volume is bound or provisioned when a pod uses the claim, where that pod can run. No pod that waits to be scheduled uses this claim yet${alsoEnded}${graph.wasRead('pods') ? '' : '; the pods could not be read'}.`,
    facts,
    fixes: [
      {
        text: 'create a pod that uses the claim, in its spec.volumes',
        commands: [],
        yaml: `- {name: data, persistentVolumeClaim: {claimName: ${claim.name}}}`,
      },
    ],
    next: { who: 'you', does: 'create a pod that uses the claim; then the scheduler chooses a node, and the volume is bound' },
  };
}

const name = ({ metadata }: Stored<Pod>): string => `pod/${metadata.name}`;

/** Pods with spec.nodeName set by their creator: the scheduler never sees them, and chooses no volume. */
function bypassed(claim: Claim, pods: readonly Stored<Pod>[]): Diagnosis {
  const [pod] = pods;
  return {
    verdict: 'stuck',
    code: 'SchedulerBypassed',
    summary: `StorageClass ${quoted(claim.className)} has volumeBindingMode WaitForFirstConsumer, so the scheduler chooses the volume; but ${listed(pods.map(name))} ${pods.length === 1 ? 'was' : 'were'} created with spec.nodeName, past the scheduler. No volume will be chosen.`,
    facts: [requestFact(claim)],
    fixes: [
      {
        text: `create the pod again without spec.nodeName; nodeSelector: {kubernetes.io/hostname: ${pod?.spec.nodeName ?? ''}} puts it on the same node`,
        commands: [kubectl(claim.namespace, 'delete', 'pod', pod?.metadata.name ?? '')],
      },
    ],
    next: { who: 'you', does: 'create the pod again' },
  };
}

/** WaitForFirstConsumer, and pods wait to be scheduled. */
export function waitForPods(explained: ClaimWithReason): Diagnosis {
  const { claim, graph, reason } = explained;
  const [pod] = graph.podsUsing(claim.key).filter(({ metadata }) => reason.pods?.includes(metadata.name) === true);
  if (pod === undefined) return waitForConsumer(explained);
  const zones = zonesInClass(explained);
  if (zones !== undefined) return zones;
  const volumes = volumesFor(claim, graph);
  const isMade = graph.class(claim.className)?.provisioner !== noProvisioner;
  if (!isMade && graph.wasRead('volumes') && volumes.every(({ refusals }) => refusals.length > 0)) return nothingToChoose(claim, volumes, { pod, graph });
  if (refusedClaims(pod).includes(claim.name)) return provisioningFailed(claim, pod, graph);
  const nodes = nodesFor(pod, graph);
  const isHopeless = nodes.length > 0 && nodes.every(({ refusals }) => refusals.length > 0);
  const who = listed((reason.pods ?? []).map((each) => `pod/${each}`));
  return {
    verdict: isHopeless ? 'stuck' : 'waiting',
    code: 'WaitForPodScheduled',
    summary: `StorageClass ${quoted(claim.className)} has volumeBindingMode WaitForFirstConsumer, so a volume is bound or provisioned once a pod is scheduled, and ${who} has no node yet.${isHopeless ? ` ${noNode({ pod, candidates: nodes, graph })}` : ''}`,
    facts: [...usualFacts(claim, graph), ...schedulerMessage(pod)],
    candidates: nodes,
    fixes: isHopeless ? nodeFixes({ pod, candidates: nodes, graph }) : [],
    next: { who: 'the scheduler', does: `chooses a node for ${who}; then the volume is bound` },
  };
}

/** The scheduler and the provisioner try again, and the driver is not expected to answer otherwise. */
function provisioningFailed(claim: Claim, pod: Stored<Pod>, graph: ObjectGraph): Diagnosis {
  return {
    verdict: 'stuck',
    code: 'ProvisioningFailed',
    summary: `${name(pod)} waits for the claim, and a node was chosen, but no volume could be provisioned there; the events of the claim have the driver's reason.`,
    facts: [...usualFacts(claim, graph), ...schedulerMessage(pod)],
    fixes: [{ text: 'read the reason, and change what the claim asks for', commands: [kubectl(claim.namespace, 'describe', 'pvc', claim.name)] }],
    next: { who: 'the scheduler', does: `chooses a node for ${name(pod)} again, and the driver is asked again` },
  };
}

function nothingToChoose(
  claim: Claim,
  volumes: readonly VolumeCandidate[],
  { pod, graph }: { readonly pod: Stored<Pod>; readonly graph: ObjectGraph },
): Diagnosis {
  return {
    verdict: 'stuck',
    code: 'NoVolumeFits',
    summary: `${name(pod)} waits for the claim, and the scheduler has no volume to choose. ${noneFits(claim, volumes, graph)} Volumes of StorageClass ${quoted(claim.className)} are created by hand only.`,
    facts: [requestFact(claim), ...schedulerMessage(pod)],
    candidates: volumes.map(shown),
    fixes: [...newVolume(claim), ...repairsOf(claim, volumes)],
    next: { who: 'an administrator', does: `creates a volume that fits, where ${name(pod)} can run; then the scheduler goes on` },
  };
}

const usualFacts = (claim: Claim, graph: ObjectGraph): readonly Fact[] => {
  const fitting = volumesFor(claim, graph).filter(({ refusals }) => refusals.length === 0);
  const { provisioner } = graph.class(claim.className) ?? {};
  return [
    requestFact(claim),
    ...(fitting.length === 0 ? [] : [{ label: 'fitting', text: someOf(fitting.map((each) => each.name)) }]),
    ...(provisioner === undefined ? [] : [{ label: 'provisioner', text: provisioner }]),
  ];
};
