/** What the objects tell about an external provisioner. */
import type { ObjectGraph } from './object-graph.ts';
import { timeOf } from '../explanation/timestamps.ts';

/** A provisioner that works has created a volume within this time. */
const patienceMs = 60_000;

/** Volumes of such a StorageClass are created by hand only. */
export const noProvisioner = 'kubernetes.io/no-provisioner';

/**
 * - `absent`:  there is no CSIDriver, no node with it, and no volume provisioned by it
 * - `working`: it provisioned a volume well after the given moment
 * - `known`:   it is, or was, installed
 * - `unknown`: the objects that would tell could not be read
 */
export interface ProvisionerEvidence {
  readonly type: 'absent' | 'working' | 'known' | 'unknown';
  /** How many volumes it has provisioned that still exist. */
  readonly made: number;
  /** Names of the nodes on which it is registered. */
  readonly nodes: readonly string[];
}

export function evidenceOf(provisioner: string, { graph, since }: { readonly graph: ObjectGraph; readonly since: string }): ProvisionerEvidence {
  const made = graph.volumes.filter(({ provisionedBy }) => provisionedBy === provisioner);
  const nodes = graph.nodesWithDriver(provisioner);
  const after = (timeOf(since) ?? Infinity) + patienceMs;
  const isWorking = made.some(({ object }) => (timeOf(object.metadata.creationTimestamp) ?? -Infinity) > after);
  const isThere = made.length > 0 || nodes.length > 0 || graph.csiDriver(provisioner) !== undefined;
  const wasReadFor = graph.wasRead('drivers') || graph.wasRead('csiNodes');
  return { type: isWorking ? 'working' : isThere ? 'known' : wasReadFor ? 'absent' : 'unknown', made: made.length, nodes };
}
