/** What can be known of those who make volumes, without asking them. */
import type { ObjectGraph } from './object-graph.ts';
import { timeOf } from '../explanation/timestamps.ts';

/** Who works makes a volume within this time. */
const patienceMs = 60_000;

/** Volumes of such a class are made by hand only. */
export const noProvisioner = 'kubernetes.io/no-provisioner';

/**
 * - `absent`:  nothing of it is to be seen: no CSIDriver, no node with it, no volume made by it
 * - `working`: it made a volume when the given moment was long past
 * - `known`:   it is, or was, there
 * - `unknown`: it could not be looked for
 */
export interface ProvisionerEvidence {
  readonly type: 'absent' | 'working' | 'known' | 'unknown';
  /** Volumes that it has made and that still exist. */
  readonly made: number;
  /** Names of nodes with it. */
  readonly nodes: readonly string[];
}

export function evidenceOf(provisioner: string, { graph, since }: { readonly graph: ObjectGraph; readonly since: string }): ProvisionerEvidence {
  const made = graph.volumes.filter(({ provisionedBy }) => provisionedBy === provisioner);
  const nodes = graph.nodesWithDriver(provisioner);
  const after = (timeOf(since) ?? Infinity) + patienceMs;
  const isWorking = made.some(({ object }) => (timeOf(object.metadata.creationTimestamp) ?? -Infinity) > after);
  const isThere = made.length > 0 || nodes.length > 0 || graph.csiDriver(provisioner) !== undefined;
  const wasLookedFor = graph.wasRead('drivers') || graph.wasRead('csiNodes');
  return { type: isWorking ? 'working' : isThere ? 'known' : wasLookedFor ? 'absent' : 'unknown', made: made.length, nodes };
}
