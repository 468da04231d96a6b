/** Pods without a node. */
import type { Pod } from '../../api/generated/types.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { claimsOfPod, hasEnded } from '../../storage/volumes/pods.ts';
import { waitsForConsumer } from '../../api/volumes/storage-class.ts';
import { explainClaim } from '../volumes/claim.ts';
import type { ObjectExplanation, Candidate, Fact, Refusal, Diagnosis } from '../explanation/explanation.ts';
import { endOf, endPods } from '../volumes/terminating.ts';
import { nodeFixes, noNode } from '../candidates/node-fixes.ts';
import { nodesFor, refusedEverywhere } from '../candidates/node-candidates.ts';
import { missingClaims, notOwned } from './pod-claims.ts';
import { schedulerMessage } from '../candidates/scheduler-message.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { listed, someOf } from '../explanation/words.ts';

export function unscheduled(pod: Pod, graph: ObjectGraph): Diagnosis {
  const gates = pod.spec.schedulingGates ?? [];
  if (gates.length > 0) {
    const names = listed(gates.map(({ name }) => name));
    return {
      verdict: 'waiting',
      code: 'SchedulingGated',
      summary: `It is not to be scheduled until its scheduling gates are gone: ${names}.`,
      next: { who: `whoever set ${names}`, does: 'removes the gate' },
    };
  }
  const claims = claimsOfPod(pod).flatMap((key) => graph.claim(key) ?? []);
  return missingClaims(pod, graph) ?? notOwned(pod, graph) ?? claimsNotReady(claims, graph) ?? taken(pod, claims, graph) ?? nodes(pod, graph);
}

/** Claims that have to have a volume before a node can be chosen. */
function claimsNotReady(claims: readonly Claim[], graph: ObjectGraph): Diagnosis | undefined {
  const parts = claims.filter((claim) => isInTheWay(claim, graph)).map((claim) => explainClaim(claim, graph));
  if (parts.length === 0) return undefined;
  const names = listed(parts.map(({ about }) => `pvc/${about.name}`));
  return {
    verdict: parts.some(({ verdict }) => verdict === 'stuck') ? 'stuck' : 'waiting',
    code: 'ClaimsUnbound',
    summary: `It cannot be scheduled before ${names} ${parts.length === 1 ? 'has a volume' : 'have volumes'}; ${parts.map(stateOf).join('; ')}.`,
    parts,
    next: parts[0]?.next ?? { who: 'the volume binder', does: 'binds them' },
  };
}

const stateOf = ({ about, state }: ObjectExplanation): string => `pvc/${about.name} is ${state}`;

function isInTheWay(claim: Claim, graph: ObjectGraph): boolean {
  if (claim.object.metadata.deletionTimestamp !== undefined) return true;
  const { code } = explainClaim(claim, graph);
  if (claim.phase === 'Bound' && code !== 'ClaimLost' && code !== 'ClaimMisbound') return false;
  if (claim.phase === 'Lost' || claim.volumeName !== '') return true;
  // A claim that waits for the scheduler keeps nobody waiting; one whose volume is being made for a node does.
  return !waitsForConsumer(graph.class(claim.className)) || claim.selectedNode !== undefined || code === 'NoVolumeFits' || code === 'ProvisioningRefused';
}

/** ReadWriteOncePod: one pod in the whole cluster. */
function taken(pod: Pod, claims: readonly Claim[], graph: ObjectGraph): Diagnosis | undefined {
  for (const claim of claims) {
    if (!(claim.object.spec.accessModes ?? []).includes('ReadWriteOncePod')) continue;
    const others = graph.podsUsing(claim.key).filter((each) => each.metadata.uid !== pod.metadata.uid && (each.spec.nodeName ?? '') !== '' && !hasEnded(each));
    if (others.length === 0) continue;
    const names = listed(others.map(({ metadata }) => `pod/${metadata.name ?? ''}`));
    return {
      verdict: 'stuck',
      code: 'ReadWriteOncePod',
      summary: `pvc/${claim.name} is ReadWriteOncePod: one pod at a time may use it, and ${names} does.`,
      fixes: endPods(others, claim.namespace),
      next: endOf(others, graph),
    };
  }
  return undefined;
}

function nodes(pod: Pod, graph: ObjectGraph): Diagnosis {
  const [everywhere] = refusedEverywhere(pod, graph);
  if (everywhere !== undefined) return nowhere(everywhere);
  const candidates = nodesFor(pod, graph);
  const said = schedulerMessage(pod);
  const fitting = candidates.filter(({ refusals }) => refusals.length === 0);
  if (!graph.wasRead('nodes') || fitting.length > 0) return { ...possible(fitting, { said, graph }), facts: said, candidates };
  const isStorage = candidates.some(({ refusals }) => refusals.some(({ rule }) => storageRules.has(rule)));
  return {
    verdict: 'stuck',
    code: candidates.length === 0 ? 'NoNodes' : isStorage ? 'VolumeOutOfReach' : 'NodesRefuse',
    summary: noNode({ pod, candidates, graph }),
    facts: said,
    candidates,
    fixes: nodeFixes({ pod, candidates, graph }),
    next: { who: 'an administrator', does: 'makes a node fit; the scheduler looks again at once' },
  };
}

const storageRules: ReadonlySet<string> = new Set(['nodeAffinity', 'zone', 'noVolume', 'allowedTopologies', 'attachLimit', 'selectedNode', 'storageCapacity']);

/** The pod itself is the problem. */
function nowhere({ text, wanted }: Refusal): Diagnosis {
  return {
    verdict: 'stuck',
    code: 'PodRefused',
    summary: `No node can run it, whatever it is like: the pod ${text}.`,
    fixes: wanted === undefined ? [] : [{ text: `it needs ${wanted}`, commands: [] }],
    next: { who: 'you', does: 'change that; the scheduler looks again at once' },
  };
}

/** Nothing that was looked at keeps it from these nodes. */
function possible(fitting: readonly Candidate[], { said, graph }: { readonly said: readonly Fact[]; readonly graph: ObjectGraph }): Diagnosis {
  const names = someOf(fitting.map(({ name }) => name));
  const next = { who: 'the scheduler', does: 'chooses a node' };
  if (said.length > 0 && !(graph.wasRead('nodes') && graph.wasRead('placed'))) {
    const where = fitting.length === 0 ? '' : `, and its volumes can be had on ${names}`;
    const summary = `Its claims are in order${where}: storage is not what keeps it waiting. What does, the scheduler wrote into the pod.`;
    return { verdict: 'stuck', code: 'NotStorage', summary, next };
  }
  const summary =
    fitting.length === 0
      ? 'Its claims are in order: storage is not what keeps it waiting.'
      : `Nothing keeps it from ${names}${said.length === 0 ? '' : ', although there was something when the scheduler last looked'}.`;
  return { verdict: 'waiting', code: 'WaitForScheduler', summary, next };
}
