/** A random world in a cloud, as data: what its users do, and what goes wrong. */
import type { Fault } from '../../cloud/engine/faults.ts';
import type { ProcessName } from '../scenario/language/script-step.ts';

export interface CloudWorldPlan {
  readonly seed: number;
  readonly pool: PoolPlan;
  /** In order of time. */
  readonly events: readonly CloudEvent[];
}

export interface PoolPlan {
  readonly consolidateAfter: string;
  readonly capacityTypes: readonly string[];
  /** Instance families; none: all. */
  readonly families: readonly string[];
  readonly expireAfter?: string;
}

/** `at`: milliseconds since the cluster was ready. */
export type CloudEvent = { readonly at: number } & (UserAction | CloudFault);

export type UserAction =
  | ({ readonly do: 'create' } & WorkloadPlan)
  | { readonly do: 'scale'; readonly name: string; readonly replicas: number }
  | { readonly do: 'remove'; readonly name: string }
  /** The pod, node or NodeClaim of this number, modulo how many there are. */
  | { readonly do: 'delete pod' | 'delete node' | 'delete node claim' | 'cordon'; readonly number: number }
  /** Every node drifts. */
  | { readonly do: 'label pool'; readonly value: string };

/** A StatefulSet whose pods have `volumes` claims each, or a Deployment whose pods share one. */
export interface WorkloadPlan {
  readonly name: string;
  readonly kind: 'set' | 'shared' | 'stateless';
  readonly replicas: number;
  readonly cpu: string;
  readonly volumes: number;
  readonly storageClass: string;
  /** Of which one pod at a time may be evicted. */
  readonly hasBudget: boolean;
  readonly spreads: boolean;
}

export type CloudFault =
  | { readonly do: 'fault'; readonly fault: Fault; readonly forMs: number }
  | { readonly do: 'lose instance'; readonly number: number }
  | { readonly do: 'freeze instance'; readonly number: number; readonly forMs: number }
  | { readonly do: 'crash'; readonly process: ProcessName; readonly forMs: number }
  /** Between what the cloud did and what its caller learns of it. */
  | { readonly do: 'crash at change'; readonly changes: number; readonly forMs: number };

const faults: ReadonlySet<CloudEvent['do']> = new Set<CloudFault['do']>(['fault', 'lose instance', 'freeze instance', 'crash', 'crash at change']);
export const isFault = (event: CloudEvent): event is CloudEvent & CloudFault => faults.has(event.do);

/** All that happens makes room: no node is launched that later turns out not to be needed. */
export const isCalm = ({ events, pool }: CloudWorldPlan): boolean => pool.expireAfter === undefined && events.every((event) => event.do === 'create');

export const storageClasses: Readonly<Record<string, { readonly zones: readonly string[]; readonly binding: 'Immediate' | 'WaitForFirstConsumer' }>> = {
  anywhere: { zones: [], binding: 'WaitForFirstConsumer' },
  'zone-a': { zones: ['eu-west-2a'], binding: 'WaitForFirstConsumer' },
  'two-zones': { zones: ['eu-west-2b', 'eu-west-2c'], binding: 'WaitForFirstConsumer' },
  immediate: { zones: [], binding: 'Immediate' },
};

export const region = 'eu-west-2';
export const zones = ['eu-west-2a', 'eu-west-2b', 'eu-west-2c'] as const;

export function describeEvent(event: CloudEvent): string {
  const { at: _, do: what, ...details } = event;
  return `${what} ${JSON.stringify(details)}`;
}
