/** Claims that take whichever volume fits, and found none; or that wait for a pod before they look. */
import type { Pod } from '../../api/generated/types.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import { shown, type VolumeCandidate, volumesFor } from '../candidates/volume-candidates.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Fact, Fix, Diagnosis } from '../explanation/explanation.ts';
import { nodeFixes, noNode } from '../candidates/node-fixes.ts';
import { nodesFor } from '../candidates/node-candidates.ts';
import { noProvisioner } from '../graph/provisioner-evidence.ts';
import { remake, repairsOf } from '../candidates/volume-fixes.ts';
import { schedulerMessage } from '../candidates/scheduler-message.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import type { ClaimWithReason } from './claim-with-reason.ts';
import { zonesInClass } from './zones-in-class.ts';
import { requestText, requirementText, inClass, listed, quoted, someOf } from '../explanation/words.ts';

/** Nothing fits, and nobody will make anything. */
export function noVolume({ claim, graph }: ClaimWithReason): Diagnosis {
  const candidates = volumesFor(claim, graph);
  return {
    verdict: 'stuck',
    code: 'NoVolumeFits',
    summary: `${noneFits(claim, candidates, graph)}${whyNotMade(claim, graph)}`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    candidates: candidates.map(shown),
    fixes: [...newVolume(claim), ...repairsOf(claim, candidates), ...classFixes(claim, graph)],
    next: { who: 'an administrator', does: 'creates a volume that fits, or changes one; it is bound at once' },
  };
}

function whyNotMade({ class: asked }: Claim, graph: ObjectGraph): string {
  if (asked.type === 'none') return ' Its class is "", which means: a volume that exists, without a class; none is ever made for it.';
  return asked.type === 'unset' && graph.wasRead('classes') ? ' It names no class, and there is no default class of which a volume could be made for it.' : '';
}

/** In one sentence, by what the nearest misses have in common. */
export function noneFits(claim: Claim, candidates: readonly VolumeCandidate[], graph: ObjectGraph): string {
  if (!graph.wasRead('volumes')) return 'No volume is bound to it; which volumes there are could not be looked at.';
  if (candidates.length === 0) return 'There are no volumes at all.';
  const near = candidates.filter(({ refusals }) => refusals.length === 1 && !refusals.some(({ rule }) => rule === 'claimedByAnother' || rule === 'deleting'));
  // Those of its own class were meant for it; another class is only the last thing to think of.
  const own = near.filter(({ refusals }) => !refusals.some(({ rule }) => rule === 'class'));
  const meant = own.length > 0 ? own : near;
  const rules = new Set(meant.flatMap(({ refusals }) => refusals.map(({ rule }) => rule)));
  const [rule] = rules;
  const nearest = meant[0];
  if (nearest === undefined || rule === undefined || rules.size > 1) return 'No volume fits.';
  return sentences[rule]?.(claim, nearest.name) ?? `No volume fits: ${nearest.name}, which comes nearest, ${nearest.refusals[0]?.text ?? ''}.`;
}

const sentences: Readonly<Record<string, ((claim: Claim, nearest: string) => string) | undefined>> = {
  capacity: (_, nearest) => `No volume is large enough; ${nearest} comes nearest.`,
  accessModes: (_, nearest) => `No volume has the access modes that it asks for; ${nearest} would fit otherwise.`,
  class: ({ className }, nearest) => `No volume ${inClass(className)} fits; ${nearest} would, but for its class.`,
  nodeAffinity: (_, nearest) => `No volume is where the nodes are; ${nearest} would fit otherwise.`,
  selector: (_, nearest) => `No volume has the labels that its selector asks for; ${nearest} would fit otherwise.`,
};

const newVolume = (claim: Claim): readonly Fix[] => [{ text: `create a volume ${requirementText(claim)}`, commands: [] }];

/** Somebody could make volumes. */
function classFixes(claim: Claim, graph: ObjectGraph): readonly Fix[] {
  const names = graph.classes.map(({ metadata }) => metadata.name ?? '');
  const [first] = names;
  if (first === undefined) return [];
  if (claim.class.type === 'none') return [remake(claim, `with a class (${someOf(names.map(quoted))}), so that a volume can be made for it`)];
  const annotation = 'storageclass.kubernetes.io/is-default-class=true';
  return [
    {
      text: `make a class the default one (${someOf(names.map(quoted))}): claims without a class get it at once`,
      commands: [kubectl(undefined, 'annotate', 'storageclass', first, annotation, '--overwrite')],
    },
  ];
}

/** WaitForFirstConsumer, and no pod is to be scheduled. */
export function waitForConsumer({ claim, graph }: ClaimWithReason): Diagnosis {
  const zones = zonesInClass({ claim, graph });
  if (zones !== undefined) return zones;
  const users = graph.podsUsing(claim.key);
  const placed = users.filter((pod) => (pod.spec.nodeName ?? '') !== '' && !hasEnded(pod));
  if (placed.length > 0) return bypassed(claim, placed);
  const ended = users.filter(hasEnded);
  const facts = usualFacts(claim, graph);
  const alsoEnded = ended.length === 0 ? '' : ` (${someOf(ended.map(name))} ended, which does not count)`;
  return {
    verdict: 'waiting',
    code: 'WaitForFirstConsumer',
    summary: `Nothing is wrong: class ${quoted(claim.className)} has volumes chosen or made only when a pod needs them, so that they are where the pod runs. No pod that is to be scheduled uses this claim yet${alsoEnded}${graph.wasRead('pods') ? '' : '; which pods there are could not be looked at'}.`,
    facts,
    fixes: [
      {
        text: 'create a pod that uses the claim, in its spec.volumes',
        commands: [],
        yaml: `- {name: data, persistentVolumeClaim: {claimName: ${claim.name}}}`,
      },
    ],
    next: { who: 'you', does: 'create a pod that uses it; then the scheduler chooses a node and the volume follows' },
  };
}

const name = ({ metadata }: Pod): string => `pod/${metadata.name ?? ''}`;

/** Pods that somebody put on a node without asking the scheduler: nobody will ever choose a volume for them. */
function bypassed(claim: Claim, pods: readonly Pod[]): Diagnosis {
  const [pod] = pods;
  return {
    verdict: 'stuck',
    code: 'SchedulerBypassed',
    summary: `Class ${quoted(claim.className)} leaves the choice of a volume to the scheduler, but ${listed(pods.map(name))} ${pods.length === 1 ? 'was' : 'were'} put on a node by spec.nodeName, past the scheduler. Nobody will choose a volume.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    fixes: [
      {
        text: `create the pod again without spec.nodeName; nodeSelector: {kubernetes.io/hostname: ${pod?.spec.nodeName ?? ''}} gets it to the same node`,
        commands: [kubectl(claim.namespace, 'delete', 'pod', pod?.metadata.name ?? '')],
      },
    ],
    next: { who: 'you', does: 'create the pod again' },
  };
}

/** WaitForFirstConsumer, and pods are to be scheduled. */
export function waitForPods(told: ClaimWithReason): Diagnosis {
  const { claim, graph, reason } = told;
  const [pod] = graph.podsUsing(claim.key).filter(({ metadata }) => reason.pods?.includes(metadata.name ?? '') === true);
  if (pod === undefined) return waitForConsumer(told);
  const zones = zonesInClass(told);
  if (zones !== undefined) return zones;
  const volumes = volumesFor(claim, graph);
  const isMade = graph.class(claim.className)?.provisioner !== noProvisioner;
  if (!isMade && graph.wasRead('volumes') && volumes.every(({ refusals }) => refusals.length > 0)) return nothingToChoose(claim, volumes, { pod, graph });
  const nodes = nodesFor(pod, graph);
  const isHopeless = nodes.length > 0 && nodes.every(({ refusals }) => refusals.length > 0);
  const who = listed((reason.pods ?? []).map((each) => `pod/${each}`));
  return {
    verdict: isHopeless ? 'stuck' : 'waiting',
    code: 'WaitForPodScheduled',
    summary: `Class ${quoted(claim.className)} has volumes chosen or made only once a pod has a node, and ${who} has none yet.${isHopeless ? ` ${noNode({ pod, candidates: nodes, graph })}` : ''}`,
    facts: [...usualFacts(claim, graph), ...schedulerMessage(pod)],
    candidates: nodes,
    fixes: isHopeless ? nodeFixes({ pod, candidates: nodes, graph }) : [],
    next: { who: 'the scheduler', does: `chooses a node for ${who}; the volume follows` },
  };
}

function nothingToChoose(claim: Claim, volumes: readonly VolumeCandidate[], { pod, graph }: { readonly pod: Pod; readonly graph: ObjectGraph }): Diagnosis {
  return {
    verdict: 'stuck',
    code: 'NoVolumeFits',
    summary: `${name(pod)} waits for it, and the scheduler has no volume to choose. ${noneFits(claim, volumes, graph)} Volumes of class ${quoted(claim.className)} are made by hand only.`,
    facts: [{ label: 'asks for', text: requestText(claim) }, ...schedulerMessage(pod)],
    candidates: volumes.map(shown),
    fixes: [...newVolume(claim), ...repairsOf(claim, volumes)],
    next: { who: 'an administrator', does: `creates a volume that fits, where ${name(pod)} can run; the scheduler does the rest` },
  };
}

const usualFacts = (claim: Claim, graph: ObjectGraph): readonly Fact[] => {
  const fitting = volumesFor(claim, graph).filter(({ refusals }) => refusals.length === 0);
  const { provisioner } = graph.class(claim.className) ?? {};
  return [
    { label: 'asks for', text: requestText(claim) },
    ...(fitting.length === 0 ? [] : [{ label: 'would fit', text: someOf(fitting.map((each) => each.name)) }]),
    ...(provisioner === undefined ? [] : [{ label: 'made by', text: provisioner }]),
  ];
};
