import { badNetwork, type NetworkFaults, perfectNetwork } from '../../world/network.ts';

/** What goes wrong, and when: data, so that a failure can be told with as few of them as it takes. */
export type Fault =
  /** A program dies at its next writes but `writes`, before or after the server has done what it asked, and is started again. */
  | { readonly kind: 'crash'; readonly at: number; readonly component: string; readonly writes: number; readonly moment: EffectMoment; readonly backMs: number }
  /** Whoever leads dies inside a call of a driver, before or after its effect. */
  | { readonly kind: 'crash-in-driver'; readonly at: number; readonly calls: number; readonly moment: EffectMoment; readonly backMs: number }
  /** The API server dies; `power`: and its disk forgets what was not synced. */
  | { readonly kind: 'server-crash'; readonly at: number; readonly how: 'killed' | 'power'; readonly backMs: number }
  /** The store's disk is full. */
  | { readonly kind: 'disk-full'; readonly at: number; readonly forMs: number }
  /** The store's disk takes so long, at most, until it has really written something. */
  | { readonly kind: 'disk-slow'; readonly at: number; readonly forMs: number; readonly delayMs: number }
  | { readonly kind: NetworkFaultKind; readonly at: number; readonly component: string; readonly forMs: number }
  /** Calls of drivers fail, before or after their effect. */
  | { readonly kind: 'backend-fails'; readonly at: number; readonly calls: number; readonly moment: EffectMoment }
  | { readonly kind: 'backend-slow'; readonly at: number; readonly forMs: number; readonly delayMs: number }
  /** A clock is wrong from the beginning; leaders lose their leases and do not know it. */
  | { readonly kind: 'clock'; readonly at: 0; readonly component: string; readonly rate: number; readonly aheadMs: number }
  /** A program stands still at its next writes but `writes`, and does not know it: when it goes on, and writes, somebody else may lead. */
  | { readonly kind: 'pause'; readonly at: number; readonly component: string; readonly writes: number; readonly forMs: number }
  /** What happened so far is forgotten: a watch that was cut cannot go on where it was. */
  | { readonly kind: 'compaction'; readonly at: number }
  /** Every machine is off, and comes back. */
  | { readonly kind: 'power-cut'; readonly at: number; readonly forMs: number }
  /** A machine is lost. Without `backMs` it never comes back, and at the end somebody says so. */
  | { readonly kind: 'node-loss'; readonly at: number; readonly component: string; readonly backMs?: number };

export type EffectMoment = 'before' | 'after';
export type FaultKind = Fault['kind'];

export type NetworkFaultKind = keyof typeof networkFaults;

/** Each alone, so that it can be told which of them it takes. */
export const networkFaults = {
  slow: { ...perfectNetwork, delayMs: 2_000 },
  lossy: { ...perfectNetwork, lostBefore: 0.2, lostAfter: 0.2 },
  cuts: { ...perfectNetwork, cut: 0.3 },
  stale: { ...perfectNetwork, stall: 0.5, stallMs: 8_000 },
  twice: { ...perfectNetwork, twice: 0.5 },
  conflicts: { ...perfectNetwork, conflict: 0.3 },
  bad: badNetwork,
  /** Nothing passes: a leader goes on for a while, and another one begins. */
  silence: { ...perfectNetwork, lostBefore: 1, cut: 1 },
} as const satisfies Record<string, NetworkFaults>;

export const isNetworkFault = (kind: FaultKind): kind is NetworkFaultKind => kind in networkFaults;

export function describeFault(fault: Fault): string {
  const details = Object.entries(fault).filter(([name]) => name !== 'kind' && name !== 'at');
  return [fault.kind, ...details.map(([name, value]) => (name === 'component' ? String(value) : `${name}=${String(value)}`))].join(' ');
}
