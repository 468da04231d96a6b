import type { Faults } from './faults.ts';
import type { Latency, Step } from './latency.ts';
import type { Change } from './records.ts';
import type { Region } from './regions.ts';
import type { CloudState } from './state.ts';

/** What an account may have. */
export interface Quotas {
  readonly onDemandVcpus: number;
  readonly spotVcpus: number;
  readonly volumes: number;
  readonly snapshots: number;
}

export const usualQuotas: Quotas = { onDemandVcpus: 20_000, spotVcpus: 20_000, volumes: 100_000, snapshots: 100_000 };

/** What a request to the cloud, or a transition, is decided from. */
export interface Context {
  readonly state: CloudState;
  readonly region: Region;
  readonly now: number;
  readonly faults: Faults;
  readonly quotas: Quotas;
  readonly latencies: Readonly<Record<Step, Latency>>;
  /** At least 0, below 1. */
  readonly random: () => number;
  /** A new id: 'vol-0a…'. */
  readonly newId: (prefix: string) => string;
}

/** The answer, and the changes that make it true. A refusal is thrown as CloudError and changes nothing. */
export interface Outcome<T> {
  readonly value: T;
  readonly changes: readonly Change[];
}
