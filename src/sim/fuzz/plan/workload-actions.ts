/** What users do to workloads without claims. Their names are their own, so that other actions do not concern them. */
export type WorkloadAction =
  /** `keeps`: how many old revisions. */
  | { readonly do: 'create-daemon-set'; readonly name: string; readonly keeps: number }
  | { readonly do: 'create-server'; readonly name: string; readonly replicas: number; readonly placement: Placement; readonly config?: ConfigChoice }
  | { readonly do: 'create-job'; readonly name: string; readonly completions: number; readonly parallelism: number }
  | { readonly do: 'create-cron-job'; readonly name: string; readonly suspended: boolean }
  | { readonly do: 'suspend-cron-job'; readonly name: string; readonly suspended: boolean }
  /** `least`: how many pods of the workload must be available. */
  | { readonly do: 'create-budget'; readonly name: string; readonly least: number }
  | { readonly do: 'create-config-map'; readonly name: string; readonly keys: readonly string[] }
  /** Another template, and so other pods. */
  | { readonly do: 'update-workload'; readonly kind: 'DaemonSet' | 'Deployment'; readonly name: string; readonly version: number }
  | { readonly do: 'scale-server'; readonly name: string; readonly replicas: number }
  | { readonly do: 'delete-workload'; readonly kind: WorkloadKind; readonly name: string; readonly propagation?: 'Orphan' | 'Foreground' }
  /** Writes the object as it is. */
  | { readonly do: 'touch-workload'; readonly kind: 'DaemonSet' | 'Deployment'; readonly name: string }
  | { readonly do: 'taint' | 'untaint'; readonly node: string };

export type WorkloadKind = 'DaemonSet' | 'Deployment' | 'Job' | 'CronJob' | 'PodDisruptionBudget' | 'ConfigMap';

/** Of the pods of one workload: on different nodes, near each other, or spread. */
export type Placement = 'any' | 'apart' | 'together' | 'spread';

/** A volume of a ConfigMap that may be missing, or lack the key that is asked for. */
export type ConfigChoice = { readonly map: string; readonly key: string; readonly optional: boolean };
