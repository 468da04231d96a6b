import type { Fault } from './faults.ts';
import type { TimedAction } from './user-actions.ts';

/** A world, whole: run twice, it does the same twice. */
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
  /** How many processes with all controllers; the others stand by. As many schedulers. */
  readonly leaders: number;
  /** How it ends does not depend on who is faster: with and without faults it has to end alike. */
  readonly confluent: boolean;
}

export const controllersName = (number: number): string => `controllers-${number}`;
export const schedulerName = (number: number): string => `scheduler-${number}`;
export const nodeName = (number: number): string => `node-${number}`;

export function componentNames({ leaders, nodes }: FuzzSettings): readonly string[] {
  const upTo = (count: number, name: (number: number) => string) => Array.from({ length: count }, (_, i) => name(i + 1));
  return [...upTo(leaders, controllersName), ...upTo(leaders, schedulerName), ...upTo(nodes, nodeName)];
}

/** The most pods that anybody asks for at a time, by the name of the Deployment. */
export function mostReplicas({ actions: actions }: FuzzPlan): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const { action } of actions)
    if (action.do === 'create-deployment' || action.do === 'scale-deployment') most.set(action.name, Math.max(action.replicas, most.get(action.name) ?? 0));
  return most;
}

/** What fails, if anything does, are nodes and backends. */
export const controllersAreWell = ({ faults }: FuzzPlan): boolean =>
  faults.every((fault) => ('component' in fault ? fault.component.startsWith('node-') : fault.kind === 'power-cut' || fault.kind.startsWith('backend-')));
