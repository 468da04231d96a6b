import type { CsiDriverFeatures } from '../../drivers/csi/backend.ts';
import { type Fault, isNetworkFault } from './faults.ts';
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
  /** CSI drivers behind sockets; absent: none. */
  readonly csi?: readonly CsiDriverFeatures[];
  /** Agents read as `moor node` does: only the objects that concern their node. */
  readonly readsAsNode?: boolean;
  /** The end does not depend on the order: with and without faults it has to be the same. */
  readonly confluent: boolean;
}

const upTo = (count: number, name: (number: number) => string): readonly string[] => Array.from({ length: count }, (_, i) => name(i + 1));

export const controllersName = (number: number): string => `controllers-${number}`;
export const schedulerName = (number: number): string => `scheduler-${number}`;
export const nodeName = (number: number): string => `node-${number}`;
export const nodeNames = ({ nodes }: Pick<FuzzSettings, 'nodes'>): readonly string[] => upTo(nodes, nodeName);

export function componentNames({ leaders, nodes }: FuzzSettings): readonly string[] {
  return [...upTo(leaders, controllersName), ...upTo(leaders, schedulerName), ...nodeNames({ nodes })];
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

/** One scheduler, which neither crashes nor pauses, by a right clock. */
export const schedulerIsAlone = ({ settings, faults }: FuzzPlan): boolean =>
  settings.leaders === 1 && faults.every((fault) => !('component' in fault) || fault.component !== schedulerName(1) || isNetworkFault(fault.kind));
