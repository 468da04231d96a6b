import type { Fault } from './faults.ts';
import type { TimedAction } from './user-actions.ts';

/** A complete world: every run of it is the same. */
export interface FuzzPlan {
  readonly seed: number;
  readonly settings: FuzzSettings;
  readonly actions: readonly TimedAction[];
  readonly faults: readonly Fault[];
}

export interface FuzzSettings {
  readonly nodes: number;
  readonly volumeLimit: number | undefined;
  readonly store: 'memory' | 'embedded';
  readonly bindsTogether: boolean;
  /** How many processes with all controllers, of which one leads; and as many schedulers. */
  readonly leaders: number;
  /** The nodes with the real agent on a simulated machine; absent: all are hollow. */
  readonly agents?: readonly string[];
  /** The end does not depend on the order: with and without faults it has to be the same. */
  readonly confluent: boolean;
}

export const controllersName = (number: number): string => `controllers-${number}`;
export const schedulerName = (number: number): string => `scheduler-${number}`;
export const nodeName = (number: number): string => `node-${number}`;

export function componentNames({ leaders, nodes }: FuzzSettings): readonly string[] {
  const upTo = (count: number, name: (number: number) => string) => Array.from({ length: count }, (_, i) => name(i + 1));
  return [...upTo(leaders, controllersName), ...upTo(leaders, schedulerName), ...upTo(nodes, nodeName)];
}

/** The highest replicas of each Deployment. */
export function mostReplicas({ actions }: FuzzPlan): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const { action } of actions)
    if (action.do === 'create-deployment' || action.do === 'scale-deployment') most.set(action.name, Math.max(action.replicas, most.get(action.name) ?? 0));
  return most;
}

/** Only nodes and backends fail. */
export const controllersAreWell = ({ faults }: FuzzPlan): boolean =>
  faults.every((fault) => ('component' in fault ? fault.component.startsWith('node-') : fault.kind === 'power-cut' || fault.kind.startsWith('backend-')));
