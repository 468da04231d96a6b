import type { CsiFault } from './csi-faults.ts';
import { badNetwork, type NetworkFaults, perfectNetwork } from '../../world/network.ts';

/** A fault and its time, as data, so that a failure can be shrunk to the faults that it needs. */
export type Fault =
  | CsiFault
  /** A component crashes at a write, after `writes` others, before or after the server has processed it, and restarts. */
  | { readonly kind: 'crash'; readonly at: number; readonly component: string; readonly writes: number; readonly moment: EffectMoment; readonly backMs: number }
  /** The leader crashes inside a driver call, before or after its effect. */
  | { readonly kind: 'crash-in-driver'; readonly at: number; readonly calls: number; readonly moment: EffectMoment; readonly backMs: number }
  /** The API server crashes; `power`: and its disk loses what was not synced. */
  | { readonly kind: 'server-crash'; readonly at: number; readonly how: 'killed' | 'power'; readonly backMs: number }
  /** The API server is killed, and a bit of its store has changed when it starts again. */
  | { readonly kind: 'disk-damage'; readonly at: number; readonly permille: number; readonly bit: number }
  /** The store's disk is full. */
  | { readonly kind: 'disk-full'; readonly at: number; readonly forMs: number }
  /** A sync of the store's disk takes up to `delayMs`. */
  | { readonly kind: 'disk-slow'; readonly at: number; readonly forMs: number; readonly delayMs: number }
  | { readonly kind: NetworkFaultKind; readonly at: number; readonly component: string; readonly forMs: number }
  /** Driver calls fail, before or after their effect. */
  | { readonly kind: 'backend-fails'; readonly at: number; readonly calls: number; readonly moment: EffectMoment }
  | { readonly kind: 'backend-slow'; readonly at: number; readonly forMs: number; readonly delayMs: number }
  /** The agent of a machine is killed at a call to its host, after `calls` others, before or after its effect. */
  | {
      readonly kind: 'crash-on-host';
      readonly at: number;
      readonly component: string;
      readonly calls: number;
      readonly moment: EffectMoment;
      readonly backMs: number;
    }
  /** The agent of a machine is killed, and one of its mounts is gone when it is back. */
  | { readonly kind: 'lost-mount'; readonly at: number; readonly component: string; readonly number: number; readonly backMs: number }
  /** A clock is skewed from the beginning; leaders lose their leases without noticing. */
  | { readonly kind: 'clock'; readonly at: 0; readonly component: string; readonly rate: number; readonly aheadMs: number }
  /** A component pauses before a write, after `writes` others, without noticing: when it resumes and writes, another one may lead. */
  | { readonly kind: 'pause'; readonly at: number; readonly component: string; readonly writes: number; readonly forMs: number }
  /** The store is compacted: a watch that was cut cannot resume. */
  | { readonly kind: 'compaction'; readonly at: number }
  /** Every machine is off for a while. */
  | { readonly kind: 'power-cut'; readonly at: number; readonly forMs: number }
  /** A machine is lost. Without `backMs` it never comes back, and its Node is deleted at the end. */
  | { readonly kind: 'node-loss'; readonly at: number; readonly component: string; readonly backMs?: number };

/** Neither of the network nor of CSI drivers. */
export type OtherFault = Exclude<Fault, { kind: NetworkFaultKind } | CsiFault>;

export type EffectMoment = 'before' | 'after';
export type FaultKind = Fault['kind'];

export type NetworkFaultKind = keyof typeof networkFaults;

/** Each fault alone, so that shrinking shows which one a failure needs. */
export const networkFaults = {
  slow: { ...perfectNetwork, delayMs: 2_000 },
  lossy: { ...perfectNetwork, lostBefore: 0.2, lostAfter: 0.2 },
  /** Of what a component did, it hears neither by the answer nor by a watch. */
  unreliable: { ...perfectNetwork, lostBefore: 0.3, lostAfter: 0.4, stall: 0.7, stallMs: 12_000 },
  cuts: { ...perfectNetwork, cut: 0.3 },
  stale: { ...perfectNetwork, stall: 0.5, stallMs: 8_000 },
  /** Nothing is heard of nodes for much longer than in production, where a stalled connection is noticed. */
  'stale-nodes': { ...perfectNetwork, stall: 1, stallMs: 50_000, stalls: 'nodes' },
  twice: { ...perfectNetwork, twice: 0.5 },
  conflicts: { ...perfectNetwork, conflict: 0.3 },
  bad: badNetwork,
  /** Nothing passes: a leader goes on for a while, and another one takes over. */
  silence: { ...perfectNetwork, lostBefore: 1, cut: 1 },
} as const satisfies Record<string, NetworkFaults>;

export const isNetworkFault = (kind: FaultKind): kind is NetworkFaultKind => kind in networkFaults;

export function describeFault(fault: Fault): string {
  const details = Object.entries(fault).filter(([name]) => name !== 'kind' && name !== 'at');
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return [fault.kind, ...details.map(([name, value]) => (name === 'component' ? text(value) : `${name}=${text(value)}`))].join(' ');
}
