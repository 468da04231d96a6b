/** Pods without a node. */
import type { Stored } from '../../api/stored.ts';
import type { Pod } from '../../api/generated/types.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { claimsOfPod, hasEnded } from '../../storage/volumes/pods.ts';
import { waitsForConsumer } from '../../api/volumes/storage-class.ts';
import { explainClaim } from '../volumes/claim.ts';
import type { ObjectExplanation, Candidate, Fact, Refusal, Diagnosis } from '../explanation/explanation.ts';
import { endOf, endPods } from '../volumes/terminating.ts';
import { nodeFixes, noNode } from '../candidates/node-fixes.ts';
import { nodesFor, refusedEverywhere } from '../candidates/node-candidates.ts';
import { launchOf } from './pod-launch.ts';
import { missingClaims, notOwned } from './pod-claims.ts';
import { refusedClaims, schedulerMessage } from '../candidates/scheduler-message.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { kubectl } from '../explanation/commands.ts';
import { listed, someOf } from '../explanation/words.ts';

export function unscheduled(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis {
  const gates = pod.spec.schedulingGates ?? [];
  if (gates.length > 0) {
    const names = listed(gates.map(({ name }) => name));
    return {
      verdict: 'waiting',
      code: 'SchedulingGated',
      summary: `The pod has scheduling gates, and is scheduled once they are removed: ${names}.`,
      next: { who: `the owner of scheduling gate ${names}`, does: 'removes it' },
    };
  }
  const claims = claimsOfPod(pod).flatMap((key) => graph.claim(key) ?? []);
  return missingClaims(pod, graph) ?? notOwned(pod, graph) ?? claimsNotReady(claims, graph) ?? usedByAnotherPod(pod, claims, graph) ?? nodes(pod, graph);
}

/** Claims that have to be bound before the scheduler can choose a node. */
function claimsNotReady(claims: readonly Claim[], graph: ObjectGraph): Diagnosis | undefined {
  const parts = claims.filter((claim) => isInTheWay(claim, graph)).map((claim) => explainClaim(claim, graph));
  if (parts.length === 0) return undefined;
  const names = listed(parts.map(({ about }) => `pvc/${about.name}`));
  return {
    verdict: parts.some(({ verdict }) => verdict === 'stuck') ? 'stuck' : 'waiting',
    code: 'ClaimsUnbound',
    summary: `The pod cannot be scheduled before ${names} ${parts.length === 1 ? 'has a volume' : 'have volumes'}; ${parts.map(stateOf).join('; ')}.`,
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
  // A claim that waits for the scheduler does not keep the pod waiting; one whose volume is being provisioned for a node does.
  return !waitsForConsumer(graph.class(claim.className)) || claim.selectedNode !== undefined || code === 'NoVolumeFits' || code === 'ProvisioningRefused';
}

/** ReadWriteOncePod: one pod in the whole cluster. */
function usedByAnotherPod(pod: Stored<Pod>, claims: readonly Claim[], graph: ObjectGraph): Diagnosis | undefined {
  for (const claim of claims) {
    if (!(claim.object.spec.accessModes ?? []).includes('ReadWriteOncePod')) continue;
    const others = graph.podsUsing(claim.key).filter((each) => each.metadata.uid !== pod.metadata.uid && (each.spec.nodeName ?? '') !== '' && !hasEnded(each));
    if (others.length === 0) continue;
    const names = listed(others.map(({ metadata }) => `pod/${metadata.name}`));
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

function nodes(pod: Stored<Pod>, graph: ObjectGraph): Diagnosis {
  const [everywhere] = refusedEverywhere(pod, graph);
  if (everywhere !== undefined) return nowhere(everywhere);
  const candidates = nodesFor(pod, graph);
  const message = schedulerMessage(pod);
  const fitting = candidates.filter(({ refusals }) => refusals.length === 0);
  const refused = refusedClaims(pod);
  if (refused.length > 0) return { ...provisioningFailed(pod, refused), facts: message, candidates };
  if (!graph.wasRead('nodes') || fitting.length > 0) return { ...possible(fitting, { message, graph }), facts: message, candidates };
  const launch = launchOf(pod, graph);
  if (launch !== undefined) return { ...launch, facts: message, candidates: [...(launch.candidates ?? []), ...candidates] };
  const isStorage = candidates.some(({ refusals }) => refusals.some(({ rule }) => storageRules.has(rule)));
  return {
    verdict: 'stuck',
    code: candidates.length === 0 ? 'NoNodes' : isStorage ? 'VolumeOutOfReach' : 'NodesRefuse',
    summary: noNode({ pod, candidates, graph }),
    facts: message,
    candidates,
    fixes: nodeFixes({ pod, candidates, graph }),
    next: { who: 'an administrator', does: 'makes a node fit; then the scheduler tries again at once' },
  };
}

const storageRules: ReadonlySet<string> = new Set(['nodeAffinity', 'zone', 'noVolume', 'allowedTopologies', 'attachLimit', 'selectedNode', 'storageCapacity']);

/** The pod itself keeps it from every node. */
function nowhere({ text, wanted }: Refusal): Diagnosis {
  return {
    verdict: 'stuck',
    code: 'PodRefused',
    summary: `No node can run the pod: the pod ${text}.`,
    fixes: wanted === undefined ? [] : [{ text: `the pod needs ${wanted}`, commands: [] }],
    next: { who: 'you', does: 'change that; then the scheduler tries again at once' },
  };
}

/** The scheduler and the provisioner try again, and the driver is not expected to answer otherwise. */
function provisioningFailed({ metadata: { namespace } }: Stored<Pod>, claims: readonly string[]): Diagnosis {
  const names = listed(claims.map((name) => `pvc/${name}`));
  return {
    verdict: 'stuck',
    code: 'ProvisioningFailed',
    summary: `A node was chosen, but no volume could be provisioned there for ${names}; its events have the driver's reason.`,
    fixes: claims.map((name) => ({ text: `read the reason, and change what the claim asks for`, commands: [kubectl(namespace, 'describe', 'pvc', name)] })),
    next: { who: 'the scheduler', does: 'chooses a node again, and the driver is asked again' },
  };
}

/** Nothing that was read keeps the pod from these nodes. */
function possible(fitting: readonly Candidate[], { message, graph }: { readonly message: readonly Fact[]; readonly graph: ObjectGraph }): Diagnosis {
  const names = someOf(fitting.map(({ name }) => name));
  const next = { who: 'the scheduler', does: 'chooses a node' };
  if (message.length > 0 && !(graph.wasRead('nodes') && graph.wasRead('placed'))) {
    const where = fitting.length === 0 ? '' : `, and its volumes can be used on ${names}`;
    const summary = `The pod's claims are in order${where}: storage is not what it waits for. The scheduler's message in the pod tells the reason.`;
    return { verdict: 'stuck', code: 'NotStorage', summary, next };
  }
  const summary =
    fitting.length === 0
      ? "The pod's claims are in order: storage is not what it waits for."
      : `Nothing keeps the pod from ${names}${message.length === 0 ? '' : ' any more; the message is that of the last scheduling attempt'}.`;
  return { verdict: 'waiting', code: 'WaitForScheduler', summary, next };
}
