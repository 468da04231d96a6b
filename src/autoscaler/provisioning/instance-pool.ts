/** A NodePool with what the cloud can launch for it. */
import type { DaemonSet, Taint } from '../../api/generated/types.ts';
import type { NodePool } from '../../api/kinds/karpenter/node-pool.ts';
import { type Amounts, addAmountsTo, amountsOfQuantities, copyAmounts, noAmounts } from '../../scheduler/amounts.ts';
import { parseQuantity } from '../../api/quantity.ts';
import { podRequests } from '../../api/kinds/pod/pod-resources.ts';
import { tolerationsFor } from '../../api/taints.ts';
import type { InstanceType } from '../cloud-provider.ts';
import { disruptedTaint, unregisteredTaint } from '../labels.ts';
import { cheapestPrice, typeMeets } from '../offerings.ts';
import { requirementsOfPool } from '../requirements/pool-requirements.ts';
import { areCompatible, combined, type Requirements, requirementsOfLabels } from '../requirements/requirements.ts';

export interface InstancePool {
  readonly name: string;
  readonly object: NodePool;
  /** Of its template: requirements and labels. */
  readonly requirements: Requirements;
  readonly taints: readonly Taint[];
  /** Those that meet the requirements, the cheapest first. */
  readonly types: readonly PooledType[];
  /** What the limits of the NodePool leave; undefined: it has none. */
  remaining: Map<string, number> | undefined;
}

export interface PooledType {
  readonly type: InstanceType;
  /** Without what its daemons take. */
  readonly free: Readonly<Amounts>;
  /** In the units of `Amounts`, by resource; 'nodes' is 1. */
  readonly capacity: ReadonlyMap<string, number>;
}

export interface PoolContext {
  readonly instanceTypes: readonly InstanceType[];
  readonly daemonSets: Iterable<DaemonSet>;
  /** The capacities of the nodes that the pool has, in-flight ones included. */
  readonly used: readonly Readonly<Record<string, string>>[];
}

export function instancePoolOf(object: NodePool, { instanceTypes, daemonSets, used }: PoolContext): InstancePool {
  const {
    metadata: { name = '' },
    spec: { template, limits },
  } = object;
  const requirements = requirementsOfPool(object);
  const taints = [...(template.spec.taints ?? [])];
  const daemons = [...daemonSets].filter((set) => toleratesAll(set, taints)).map((set) => daemonOf(set));
  const types = instanceTypes
    .filter((type) => typeMeets(type, requirements) && Number.isFinite(cheapestPrice(type, requirements)))
    .map((type) => ({ price: cheapestPrice(type, requirements), pooled: pooled(type, daemons, requirements) }))
    .sort((a, b) => a.price - b.price || (a.pooled.type.name < b.pooled.type.name ? -1 : 1))
    .map(({ pooled: each }) => each);
  return { name, object, requirements, taints, types, remaining: limits === undefined ? undefined : remainingOf(limits, used) };
}

const toleratesAll = ({ spec }: DaemonSet, taints: readonly Taint[]): boolean =>
  tolerationsFor(
    taints.filter(({ effect, key }) => effect !== 'PreferNoSchedule' && key !== unregisteredTaint.key && key !== disruptedTaint.key),
    spec.template.spec?.tolerations ?? [],
  ) !== undefined;

interface Daemon {
  readonly requirements: Requirements;
  readonly requests: Amounts;
}

function daemonOf({ spec: { template } }: DaemonSet): Daemon {
  const spec = template.spec ?? { containers: [] };
  const requests = amountsOfQuantities(podRequests({ spec }));
  return { requirements: requirementsOfLabels(spec.nodeSelector), requests };
}

function pooled(type: InstanceType, daemons: readonly Daemon[], pool: Requirements): PooledType {
  const free = amountsOf(type.allocatable);
  const offered = combined(pool, type.requirements);
  for (const daemon of daemons) {
    if (!areCompatible(offered, daemon.requirements)) continue;
    addAmountsTo(free, daemon.requests, -1);
    free.pods--;
  }
  return { type, free, capacity: capacityOf(type.capacity) };
}

export const amountsOf = (quantities: Readonly<Record<string, string>>): Amounts =>
  amountsOfQuantities(Object.entries(quantities).map(([name, text]) => [name, parseQuantity(text)] as const));

/** By resource, as limits name them. */
export function capacityOf(quantities: Readonly<Record<string, string>>): ReadonlyMap<string, number> {
  const { cpu, memory, ephemeralStorage, pods, scalars } = amountsOf(quantities);
  return new Map([['cpu', cpu], ['memory', memory], ['ephemeral-storage', ephemeralStorage], ['pods', pods], ['nodes', 1], ...(scalars ?? [])]);
}

function remainingOf(limits: Readonly<Record<string, string | number>>, used: PoolContext['used']): Map<string, number> {
  const { nodes, ...others } = limits;
  const ofLimits = capacityOf(Object.fromEntries(Object.entries(others).map(([name, amount]) => [name, String(amount)])));
  const remaining = new Map(Object.keys(others).map((name) => [name, ofLimits.get(name) ?? 0]));
  if (nodes !== undefined) remaining.set('nodes', Number(nodes));
  for (const capacity of used) {
    const each = capacityOf(capacity);
    for (const [name, left] of remaining) remaining.set(name, left - (each.get(name) ?? 0));
  }
  return remaining;
}

/** Whether a further node of this type stays within the limits. */
export const isWithinLimits = ({ remaining }: InstancePool, { capacity }: PooledType): boolean =>
  remaining === undefined || [...remaining].every(([name, left]) => (capacity.get(name) ?? 0) <= left);

/** The planned node may become any of its types: the largest counts. */
export function chargeLimits({ remaining }: InstancePool, types: readonly PooledType[]): void {
  if (remaining === undefined) return;
  for (const [name, left] of remaining) {
    let most = 0;
    for (const { capacity } of types) most = Math.max(most, capacity.get(name) ?? 0);
    remaining.set(name, left - most);
  }
}

export function fits(requests: Readonly<Amounts>, pods: number, free: Readonly<Amounts>): boolean {
  if (requests.cpu > free.cpu || requests.memory > free.memory || requests.ephemeralStorage > free.ephemeralStorage || pods > free.pods) return false;
  if (requests.scalars !== undefined) for (const [name, amount] of requests.scalars) if (amount > (free.scalars?.get(name) ?? 0)) return false;
  return true;
}

/** The most that any of the types has, resource by resource. */
export function largestOf(types: readonly PooledType[]): Amounts {
  const most = noAmounts();
  for (const { free } of types) {
    most.cpu = Math.max(most.cpu, free.cpu);
    most.memory = Math.max(most.memory, free.memory);
    most.ephemeralStorage = Math.max(most.ephemeralStorage, free.ephemeralStorage);
    most.pods = Math.max(most.pods, free.pods);
    for (const [name, amount] of free.scalars ?? []) (most.scalars ??= new Map()).set(name, Math.max(most.scalars.get(name) ?? 0, amount));
  }
  return most;
}

export function sumOf(one: Readonly<Amounts>, other: Readonly<Amounts>): Amounts {
  const sum = copyAmounts(one);
  addAmountsTo(sum, other, 1);
  return sum;
}
