/** Mooring as a library: a cluster inside a test or a tool. */
export type { LogLevel } from '../host/world.ts';
export type { AuditOptions } from './apiserver/audit-options.ts';
export { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
export type { ClusterNodes, NodeRuntime } from './nodes/cluster-nodes.ts';
export { type NodeOptions, NodeSettingsError } from './nodes/node-settings.ts';
