/** Mooring as a library: a cluster inside a test or a tool. */
export { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
export type { ClusterNodes } from './nodes/cluster-nodes.ts';
export { type NodeOptions, NodeSettingsError } from './nodes/node-settings.ts';
