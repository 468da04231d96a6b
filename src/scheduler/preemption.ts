/**
 * PostFilter (DefaultPreemption): which pods of lower priority have to be evicted. Decides only; `preemption-executor.ts` evicts.
 */
import type { Pod, PodDisruptionBudget } from '../api/generated/types.ts';
import { labelSelectorOf, matchesLabels, SelectorError, selectsEverything } from '../api/selectors/label-selector.ts';
import { type CycleContext, filterWithNominatedPods } from './scheduling-cycle.ts';
import { type Diagnosis, fitMessage } from './diagnosis.ts';
import { isFailure, type PluginFailure, type PodInfo, type Rejection } from './framework.ts';
import type { LiveNodeInfo } from './node-info.ts';
import { nominatedNode, type NominatedPods } from './nominated-pods.ts';
import type { PodCycle } from './pod-cycle.ts';

export interface Victims {
  readonly node: LiveNodeInfo;
  /** Most important first. At least one. */
  readonly pods: readonly PodInfo[];
  /** How many of them violate a PodDisruptionBudget. */
  readonly violations: number;
}

export type PostFilterResult =
  | { readonly type: 'preempt'; readonly victims: Victims }
  /** `keepsNomination`: status.nominatedNodeName stays. */
  | { readonly type: 'noCandidate'; readonly message: string; readonly keepsNomination: boolean };

/**
 * Kubernetes runs DynamicResources' PostFilter first, and its message comes first. If PreFilter rejected the pod, that plugin has no cycle
 * state, and its error is the whole message.
 */
const dynamicResourcesMessage = 'no new claims to deallocate';
const noCycleState = 'not found';

export function postFilter(context: CycleContext, diagnosis: Diagnosis, cycle: PodCycle | undefined): PostFilterResult {
  if (cycle === undefined) return { type: 'noCandidate', message: noCycleState, keepsNomination: true };
  const result = preempt(context, diagnosis, cycle);
  return result.type === 'preempt' ? result : { ...result, message: `${dynamicResourcesMessage}, preemption: ${result.message}` };
}

function preempt(context: CycleContext, diagnosis: Diagnosis, cycle: PodCycle): PostFilterResult {
  const ineligible = whyIneligible(context, diagnosis, cycle.pod);
  if (ineligible !== undefined) return { type: 'noCandidate', message: ineligible, keepsNomination: true };
  const { candidates, byNode } = findCandidates(context, cycle, nodesWherePreemptionMightHelp(context, diagnosis));
  const [first] = candidates;
  if (first !== undefined) return { type: 'preempt', victims: candidates.reduce((best, other) => (isBetter(other, best) ? other : best), first) };
  const message = fitMessage({ nodes: context.cache.nodes.length, everywhere: undefined, byNode, others: notHelpful, restrictedBy: [] });
  return { type: 'noCandidate', message, keepsNomination: false };
}

const notHelpful: Rejection = {
  code: 'unresolvable',
  plugin: 'DefaultPreemption',
  reasons: [{ text: 'Preemption is not helpful for scheduling', rule: 'preemption' }],
};
const noVictims: Rejection = {
  code: 'unresolvable',
  plugin: 'DefaultPreemption',
  reasons: [{ text: 'No preemption victims found for incoming pod', rule: 'preemption' }],
};

function whyIneligible({ cache }: CycleContext, { everywhere, byNode, others }: Diagnosis, pod: PodInfo): string | undefined {
  if (pod.pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = nominatedNode(pod);
  if (nominated === '' || (everywhere ?? byNode.get(nominated) ?? others)?.code === 'unresolvable') return undefined;
  const isWaiting = cache.node(nominated)?.pods.some((other) => other.priority < pod.priority && isBeingPreempted(other.pod)) ?? false;
  return isWaiting ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

const isBeingPreempted = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (status.conditions ?? []).some((each) => each.type === 'DisruptionTarget' && each.status === 'True' && each.reason === 'PreemptionByScheduler');

function nodesWherePreemptionMightHelp({ cache }: CycleContext, { everywhere, byNode, others }: Diagnosis): readonly LiveNodeInfo[] {
  return cache.nodes.filter(({ name }) => (everywhere ?? byNode.get(name) ?? others)?.code === 'unschedulable');
}

interface Candidates {
  readonly candidates: readonly Victims[];
  /** Why the other nodes are no candidates. */
  readonly byNode: ReadonlyMap<string, Rejection>;
}

function findCandidates({ cache, nominatedPods, random }: CycleContext, cycle: PodCycle, nodes: readonly LiveNodeInfo[]): Candidates {
  const byNode = new Map<string, Rejection>();
  if (nodes.length === 0) return { candidates: [], byNode };
  const budgets = [...cache.views.disruptionBudget.list()];
  const enough = Math.min(nodes.length, Math.max(minCandidates, Math.trunc(nodes.length / 10)));
  const offset = Math.floor(random() * nodes.length);
  const found: Victims[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[(offset + i) % nodes.length];
    if (node === undefined) continue;
    const victims = selectVictimsOnNode(node, cycle, { budgets, nominatedPods });
    if ('pods' in victims) found.push(victims);
    else if (isFailure(victims)) byNode.set(node.name, { code: 'unschedulable', plugin: victims.plugin, reasons: [{ text: victims.message, rule: 'error' }] });
    else byNode.set(node.name, victims);
    if (found.length >= enough && found.some(({ violations }) => violations === 0)) break;
  }
  return { candidates: found, byNode };
}

/** MinCandidateNodesAbsolute. */
const minCandidates = 100;

interface DryRunContext {
  readonly budgets: readonly PodDisruptionBudget[];
  readonly nominatedPods: NominatedPods;
}

/** Removes all pods of lower priority, then reprieves as many as possible, most important first; pods that a PodDisruptionBudget protects come first. */
function selectVictimsOnNode(original: LiveNodeInfo, podCycle: PodCycle, { budgets, nominatedPods }: DryRunContext): Victims | Rejection | PluginFailure {
  const [node, cycle] = [original.copy(), podCycle.copy()];
  const lower = original.pods.filter(({ priority }) => priority < cycle.pod.priority);
  if (lower.length === 0) return noVictims;
  const remove = (pod: PodInfo): void => {
    node.removePod(pod);
    cycle.removePod(pod, node);
  };
  for (const pod of lower) remove(pod);
  const verdict = filterWithNominatedPods(cycle, node, nominatedPods);
  if (verdict !== undefined) return verdict;
  const { violating, others } = splitByPdbViolation(lower.toSorted(byImportance), budgets);
  const victims: PodInfo[] = [];
  let violations = 0;
  for (const pod of [...violating, ...others]) {
    node.addPod(pod);
    cycle.addPod(pod, node);
    if (filterWithNominatedPods(cycle, node, nominatedPods) === undefined) continue;
    remove(pod);
    victims.push(pod);
    if (violating.includes(pod)) violations++;
  }
  if (victims.length === 0) return { code: 'error', plugin: 'DefaultPreemption', message: `expected at least one victim pod on node "${node.name}"` };
  return { node: original, pods: victims.toSorted(byImportance), violations };
}

/** Higher priority first, then the earlier start. A pod that has not started counts as started now (MoreImportantPod). */
function byImportance(a: PodInfo, b: PodInfo): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const [startedA, startedB] = [startOf(a), startOf(b)];
  return startedA < startedB ? -1 : startedA > startedB ? 1 : 0;
}

/** RFC 3339, which sorts as text. */
const startOf = ({ pod }: PodInfo): string => pod.status.startTime ?? '9999';

function splitByPdbViolation(
  pods: readonly PodInfo[],
  budgets: readonly PodDisruptionBudget[],
): { readonly violating: readonly PodInfo[]; readonly others: readonly PodInfo[] } {
  const left = budgets.map(({ status }) => status.disruptionsAllowed);
  const violating: PodInfo[] = [];
  const others: PodInfo[] = [];
  for (const pod of pods) {
    let isViolated = false;
    for (const [i, budget] of budgets.entries()) {
      if (!isProtectedBy(pod, budget)) continue;
      const remaining = (left[i] ?? 0) - 1;
      left[i] = remaining;
      if (remaining < 0) isViolated = true;
    }
    (isViolated ? violating : others).push(pod);
  }
  return { violating, others };
}

/** A pod in status.disruptedPods has been counted already. */
function isProtectedBy({ namespace, name, labels }: PodInfo, { metadata, spec, status }: PodDisruptionBudget): boolean {
  if (metadata.namespace !== namespace || labels === undefined || Object.keys(labels).length === 0) return false;
  if (Object.hasOwn(status.disruptedPods ?? {}, name)) return false;
  try {
    const selector = labelSelectorOf(spec.selector);
    return !selectsEverything(selector) && matchesLabels(selector, labels);
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** Fewer PDB violations, lower highest priority, lower sum of priorities, fewer victims, later start (pickOneNodeForPreemption). */
function isBetter(a: Victims, b: Victims): boolean {
  const difference = a.violations - b.violations || highest(a) - highest(b) || sumOfPriorities(a) - sumOfPriorities(b) || a.pods.length - b.pods.length;
  if (difference !== 0) return difference < 0;
  return earliestStart(a) > earliestStart(b);
}

const highest = ({ pods }: Victims): number => pods[0]?.priority ?? 0;
/** Shifted to be positive, so that fewer victims of negative priority are better too. */
const sumOfPriorities = ({ pods }: Victims): number => pods.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0);

/** Of the victims with the highest priority. */
function earliestStart(victims: Victims): string {
  const starts = victims.pods.filter(({ priority }) => priority === highest(victims)).map(startOf);
  return starts.reduce((earliest, start) => (start < earliest ? start : earliest), '9999');
}
