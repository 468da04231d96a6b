import type { Node, Pod } from '../../api/generated/types.ts';
import { type Amounts, nodeAmounts, podAmounts } from '../amounts.ts';
import { type CyclePlugin, type NodeInfo, type Plugin, type PodInfo, type Rejection, type RejectionReason } from '../framework.ts';
import { maxNodeScore } from './normalize-score.ts';

const name = 'NodeResourcesFit';

/** NodeResourcesFit: the requests of a node's pods stay within its allocatable. Scores by LeastAllocated. */
export const nodeResourcesFit: Plugin = {
  name,
  weight: 1,
  preFilter: (pod) => new Fit(pod),
  queueingHints: {
    events: ['node', 'pod'],
    hint: (pod, change) => {
      if (change.resource === 'node') return change.after !== undefined && nodeHint(pod, change.before, change.after);
      return change.resource === 'pod' && podHint(pod, change.before, change.after);
    },
  },
};

function nodeHint({ requests }: PodInfo, before: Node | undefined, after: Node): boolean {
  const now = nodeAmounts(after);
  if (shortages(requests, { allocatable: now, requested: nothing, pods: 0 }).length > 0) return false;
  if (before === undefined) return true;
  const then = nodeAmounts(before);
  if (now.pods > then.pods) return true;
  return resourcesOf(requests).some((resource) => amountOf(now, resource) > amountOf(then, resource));
}

function podHint(pod: PodInfo, before: Pod | undefined, after: Pod | undefined): boolean {
  // A deleted pod of the node, or one nominated to it.
  if (after === undefined) return true;
  if (before === undefined) return false;
  const [then, now] = [podAmounts(before), podAmounts(after)];
  return resourcesOf(after.metadata.uid === pod.uid ? then : pod.requests).some((resource) => amountOf(then, resource) > amountOf(now, resource));
}

const nothing: Amounts = { cpu: 0, memory: 0, ephemeralStorage: 0, pods: 0, scalars: undefined };

/** The names of the requested resources. */
function resourcesOf(requests: Readonly<Amounts>): readonly string[] {
  const scalars = requests.scalars === undefined ? [] : [...requests.scalars].filter(([, amount]) => amount > 0).map(([resource]) => resource);
  return [...(['cpu', 'memory', 'ephemeral-storage'] as const).filter((resource) => amountOf(requests, resource) > 0), ...scalars];
}

function amountOf(amounts: Readonly<Amounts>, resource: string): number {
  switch (resource) {
    case 'cpu':
      return amounts.cpu;
    case 'memory':
      return amounts.memory;
    case 'ephemeral-storage':
      return amounts.ephemeralStorage;
    default:
      return amounts.scalars?.get(resource) ?? 0;
  }
}

interface NodeUsage {
  readonly allocatable: Readonly<Amounts>;
  readonly requested: Readonly<Amounts>;
  /** How many there are. */
  readonly pods: number;
}

interface Shortage {
  readonly resource: string;
  readonly asked: number;
  readonly used: number;
  readonly capacity: number;
}

function shortages(requests: Readonly<Amounts>, { allocatable, requested, pods }: NodeUsage): readonly Shortage[] {
  const short: Shortage[] = pods + 1 > allocatable.pods ? [{ resource: 'pods', asked: 1, used: pods, capacity: allocatable.pods }] : [];
  for (const resource of resourcesOf(requests)) {
    const [asked, used, capacity] = [amountOf(requests, resource), amountOf(requested, resource), amountOf(allocatable, resource)];
    if (asked > capacity - used) short.push({ resource, asked, used, capacity });
  }
  return short;
}

class Fit implements CyclePlugin {
  readonly #pod: PodInfo;
  readonly #hasScalars: boolean;

  constructor(pod: PodInfo) {
    this.#pod = pod;
    this.#hasScalars = (pod.requests.scalars?.size ?? 0) > 0;
  }

  filter(node: NodeInfo): Rejection | undefined {
    return this.#fits(node) ? undefined : this.#rejection(node);
  }

  /** The same check as `shortages`, without allocation: most pods fit on most nodes. */
  #fits({ allocatable, requested, pods }: NodeInfo): boolean {
    const { requests } = this.#pod;
    return (
      !this.#hasScalars &&
      pods.length < allocatable.pods &&
      (requests.cpu === 0 || requests.cpu <= allocatable.cpu - requested.cpu) &&
      (requests.memory === 0 || requests.memory <= allocatable.memory - requested.memory) &&
      (requests.ephemeralStorage === 0 || requests.ephemeralStorage <= allocatable.ephemeralStorage - requested.ephemeralStorage)
    );
  }

  #rejection({ allocatable, requested, pods }: NodeInfo): Rejection | undefined {
    const short = shortages(this.#pod.requests, { allocatable, requested, pods: pods.length });
    if (short.length === 0) return undefined;
    // No preemption helps if the request exceeds the allocatable.
    const isHopeless = short.some(({ resource, asked, capacity }) => resource !== 'pods' && asked > capacity);
    return { code: isHopeless ? 'unresolvable' : 'unschedulable', plugin: name, reasons: short.map(reasonOf) };
  }

  /** LeastAllocated: the mean free share of cpu and memory after placing the pod. */
  score(nodes: readonly NodeInfo[]): readonly number[] {
    const { scoredCpu, scoredMemory } = this.#pod;
    return nodes.map((node) => {
      const { cpu, memory } = node.allocatable;
      const counted = (cpu === 0 ? 0 : 1) + (memory === 0 ? 0 : 1);
      if (counted === 0) return 0;
      return Math.trunc((leftOf(cpu, node.scoredCpu + scoredCpu) + leftOf(memory, node.scoredMemory + scoredMemory)) / counted);
    });
  }
}

const leftOf = (capacity: number, requested: number): number =>
  capacity === 0 || requested > capacity ? 0 : Math.trunc(((capacity - requested) * maxNodeScore) / capacity);

function reasonOf({ resource, asked, used, capacity }: Shortage): RejectionReason {
  if (resource === 'pods') {
    return {
      text: 'Too many pods',
      rule: 'pods',
      detail: () => ({ found: `has ${used} pods, and its limit is ${capacity}`, wanted: 'one pod less' }),
    };
  }
  const show = (amount: number): string => shownAmount(resource, amount);
  return {
    text: `Insufficient ${resource}`,
    rule: asked > capacity ? 'nodeSize' : 'resource',
    detail: () => ({
      found:
        asked > capacity
          ? `has ${show(capacity)} ${resource} in all, less than the ${show(asked)} that the pod requests`
          : `has ${show(Math.max(0, capacity - used))} of ${show(capacity)} ${resource} left, less than the ${show(asked)} that the pod requests`,
      wanted: `${show(asked)} ${resource} free`,
    }),
  };
}

const units = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki'] as const;

function shownAmount(resource: string, amount: number): string {
  if (resource === 'cpu') return amount % 1000 === 0 ? String(amount / 1000) : `${amount}m`;
  if (resource !== 'memory' && resource !== 'ephemeral-storage' && !resource.startsWith('hugepages-')) return String(amount);
  for (const [i, unit] of units.entries()) {
    const size = 1024 ** (units.length - i);
    if (amount >= size) return `${Math.round((amount / size) * 10) / 10}${unit}`;
  }
  return String(amount);
}
