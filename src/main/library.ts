/** Mooring as a library: a cluster inside a test or a tool. */
export { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
