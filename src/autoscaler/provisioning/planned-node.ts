import type { Node, Taint } from '../../api/generated/types.ts';
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import { type Amounts, noAmounts } from '../../scheduler/amounts.ts';
import type { PodInfo } from '../../scheduler/framework.ts';
import { labels, zoneLabels } from '../labels.ts';
import { allows, areCompatible, combined, labelsOf, type Requirements } from '../requirements/requirements.ts';
import { exactly } from '../requirements/value-set.ts';
import { offeringsFor, typeMeets } from '../offerings.ts';
import { fits, type InstancePool, largestOf, type PooledType, sumOf } from './instance-pool.ts';
import type { PodDemand } from './pod-demand.ts';

/** What a planned node would be with a further pod. */
export interface Narrowed {
  readonly requirements: Requirements;
  readonly types: readonly PooledType[];
  readonly zones: readonly string[];
  readonly requests: Amounts;
  readonly volumes: ReadonlyMap<string, string>;
}

/** Why no type is left: Karpenter tells these apart. */
export interface Refusal {
  readonly meetsRequirements: boolean;
  readonly fits: boolean;
  readonly isOffered: boolean;
  /** The driver whose limit is exceeded on every type that would fit otherwise. */
  readonly exceeds: string | undefined;
  /** The label of which fewer values are left than `minValues` asks for. */
  readonly lacksValues?: string;
  readonly requirements: Requirements;
  readonly requests: Amounts;
}

/**
 * A node that does not exist yet: one to be launched, or the node of a NodeClaim in flight. It keeps every instance type and every zone that all of
 * its pods allow; the cloud chooses among them.
 */
export class PlannedNode {
  /** No Node can have this name. */
  readonly name: string;
  readonly pool: InstancePool;
  /** Undefined: to be launched. */
  readonly claim: NodeClaim | undefined;
  readonly taints: readonly Taint[];
  readonly pods: PodInfo[] = [];
  #state: Narrowed;
  #largest: Amounts;
  /** By driver: the highest limit of the types. */
  #limits = new Map<string, number>();

  constructor(name: string, { pool, claim, requirements, types }: PlannedNodeOptions) {
    this.name = name;
    this.pool = pool;
    this.claim = claim;
    this.taints = claim?.spec.taints ?? pool.taints;
    this.#state = { requirements, types, zones: zonesOf(types, requirements), requests: noAmounts(), volumes: new Map() };
    this.#largest = largestOf(types);
    this.#limits = limitsOf(types);
  }

  get requirements(): Requirements {
    return this.#state.requirements;
  }

  get types(): readonly PooledType[] {
    return this.#state.types;
  }

  get zones(): readonly string[] {
    return this.#state.zones;
  }

  get requests(): Readonly<Amounts> {
    return this.#state.requests;
  }

  get volumes(): ReadonlyMap<string, string> {
    return this.#state.volumes;
  }

  /** By driver: the most volumes that a node of the types left can have. */
  get limits(): ReadonlyMap<string, number> {
    return this.#limits;
  }

  /** What the node would be with the pod, for each alternative of the pod that leaves an instance type. */
  *narrowedFor(demand: PodDemand): Generator<Narrowed | Refusal> {
    const { requests, volumes } = this.#state;
    const more = sumOf(requests, demand.pod.requests);
    const all = demand.volumes.size === 0 ? volumes : new Map([...volumes, ...demand.volumes]);
    const counts = countsOf(all);
    const isFull = !fits(more, this.pods.length + 1, this.#largest);
    const over = [...counts].find(([driver, count]) => count > (this.#limits.get(driver) ?? Number.POSITIVE_INFINITY))?.[0];
    for (const alternative of demand.alternatives) {
      if (isFull || over !== undefined) {
        const requirements = combined(this.#state.requirements, alternative);
        const meetsRequirements = areCompatible(this.#state.requirements, alternative);
        yield { meetsRequirements, fits: !isFull, isOffered: true, exceeds: over, requirements, requests: more };
      } else yield this.#narrow(alternative, { requests: more, volumes: all, counts });
    }
  }

  #narrow(
    alternative: Requirements,
    { requests, volumes, counts }: Pick<Narrowed, 'requests' | 'volumes'> & { readonly counts: ReadonlyMap<string, number> },
  ): Narrowed | Refusal {
    const state = this.#state;
    const requirements = combined(state.requirements, alternative);
    const isCompatible = areCompatible(state.requirements, alternative);
    const mayExclude = alternative.size > (alternative.has(labels.zone) ? 1 : 0);
    const seen = { meetsRequirements: false, fits: false, isOffered: false };
    let exceeds: string | undefined;
    const zones = state.zones.filter((zone) => allows(requirements, labels.zone, zone));
    const pods = this.pods.length + 1;
    const types = !isCompatible
      ? []
      : state.types.filter((pooled) => {
          const meets = !mayExclude || typeMeets(pooled.type, requirements);
          const hasRoom = fits(requests, pods, pooled.free);
          const offered = isOffered(pooled, zones, requirements);
          const over = driverOver(pooled, counts);
          seen.meetsRequirements ||= meets;
          seen.fits ||= hasRoom;
          seen.isOffered ||= offered;
          if (meets && hasRoom && offered) exceeds ??= over;
          return meets && hasRoom && offered && over === undefined;
        });
    if (types.length === 0) return { ...seen, exceeds, requirements, requests };
    // A node that is launched already is of one type.
    const lacksValues = this.claim === undefined ? labelShortOfValues(requirements, types) : undefined;
    if (lacksValues !== undefined) return { ...seen, exceeds, lacksValues, requirements, requests };
    return { requirements, types, zones: zones.filter((zone) => types.some((type) => isOffered(type, [zone], requirements))), requests, volumes };
  }

  /** The pod is on the node from now on. */
  add(pod: PodInfo, narrowed: Narrowed): void {
    this.pods.push(pod);
    this.#state = narrowed;
    this.#largest = largestOf(narrowed.types);
    this.#limits = limitsOf(narrowed.types);
  }

  /** The Node as it may come, in one of its zones, for the scheduler's plugins. */
  asNode({ requirements, types }: Pick<Narrowed, 'requirements' | 'types'>, zone: string | undefined): Node {
    const [cheapest] = types;
    const ofType = cheapest === undefined ? {} : labelsOf(cheapest.type.requirements);
    const zonal = zone === undefined ? {} : Object.fromEntries([labels.zone, ...zoneLabels].map((key) => [key, zone]));
    const { cpu, memory, ephemeralStorage, pods, scalars } = largestOf(types);
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: this.name, labels: { ...ofType, ...labelsOf(requirements), ...zonal, [labels.hostname]: this.name } },
      spec: { taints: [...this.taints] },
      status: {
        ...emptyStatus,
        allocatable: {
          cpu: `${cpu}m`,
          memory: String(memory),
          'ephemeral-storage': String(ephemeralStorage),
          pods: String(pods),
          ...Object.fromEntries([...(scalars ?? [])].map(([name, amount]) => [name, String(amount)])),
        },
      },
    };
  }

  /** Its requirements, with the zones that are left. */
  get finalRequirements(): Requirements {
    const { requirements, zones } = this.#state;
    return zones.length === 0 ? requirements : combined(requirements, new Map([[labels.zone, exactly(...zones)]]));
  }
}

const emptyStatus = {
  daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  nodeInfo: {
    architecture: '',
    bootID: '',
    containerRuntimeVersion: '',
    kernelVersion: '',
    kubeProxyVersion: '',
    kubeletVersion: '',
    machineID: '',
    operatingSystem: 'linux',
    osImage: '',
    systemUUID: '',
  },
} as const satisfies Node['status'];

interface PlannedNodeOptions {
  readonly pool: InstancePool;
  readonly claim?: NodeClaim;
  readonly requirements: Requirements;
  readonly types: readonly PooledType[];
}

export const isRefusal = (result: Narrowed | Refusal): result is Refusal => !('types' in result);

function zonesOf(types: readonly PooledType[], requirements: Requirements): readonly string[] {
  const zones = new Set<string>();
  for (const { type } of types)
    for (const { zone, isAvailable, capacityType } of type.offerings)
      if (isAvailable && allows(requirements, labels.zone, zone) && allows(requirements, labels.capacityType, capacityType)) zones.add(zone);
  return [...zones].sort();
}

const isOffered = ({ type }: PooledType, zones: readonly string[], requirements: Requirements): boolean =>
  type.offerings.some(({ zone, capacityType, isAvailable }) => isAvailable && zones.includes(zone) && allows(requirements, labels.capacityType, capacityType));

/** The first label of which the types that are left have fewer values than its `minValues`. */
export function labelShortOfValues(requirements: Requirements, types: readonly PooledType[]): string | undefined {
  for (const [key, { minValues }] of requirements)
    if (minValues !== undefined && new Set(types.flatMap(({ type }) => valuesOf(key, type, requirements))).size < minValues) return key;
  return undefined;
}

function valuesOf(key: string, type: PooledType['type'], requirements: Requirements): readonly string[] {
  if (key === labels.zone) return offeringsFor(type, requirements).map(({ zone }) => zone);
  if (key === labels.capacityType) return offeringsFor(type, requirements).map(({ capacityType }) => capacityType);
  return [...(type.requirements.get(key)?.values ?? [])];
}

function countsOf(volumes: ReadonlyMap<string, string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const driver of volumes.values()) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return counts;
}

/** A driver that one of the types does not limit has no limit. */
function limitsOf(types: readonly PooledType[]): Map<string, number> {
  const limits = new Map<string, number>();
  for (const { type } of types) for (const [driver, limit] of Object.entries(type.volumeLimits)) limits.set(driver, Math.max(limits.get(driver) ?? 0, limit));
  for (const driver of limits.keys()) if (types.some(({ type }) => type.volumeLimits[driver] === undefined)) limits.delete(driver);
  return limits;
}

function driverOver({ type }: PooledType, counts: ReadonlyMap<string, number>): string | undefined {
  for (const [driver, count] of counts) if (count > (type.volumeLimits[driver] ?? Number.POSITIVE_INFINITY)) return driver;
  return undefined;
}
