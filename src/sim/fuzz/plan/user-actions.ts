import type { CsiAction } from './csi-actions.ts';
import type { NamespaceAction } from './namespace-actions.ts';
import type { WorkloadAction } from './workload-actions.ts';

/** What users, administrators and autoscalers do to the cluster, as data: a world can be stored, shrunk and run again. */
export type UserAction =
  | CsiAction
  | NamespaceAction
  | WorkloadAction
  | { readonly do: 'create-class'; readonly name: string; readonly reclaim: ReclaimPolicy; readonly waits: boolean }
  | { readonly do: 'delete-class'; readonly name: string }
  | {
      readonly do: 'create-volume';
      readonly name: string;
      readonly sizeGi: number;
      readonly reclaim: ReclaimPolicy;
      readonly claim?: string;
      readonly storageClass?: string;
    }
  | { readonly do: 'delete-volume'; readonly of: VolumeChoice }
  | { readonly do: 'clear-claim-ref'; readonly of: VolumeChoice }
  | { readonly do: 'set-policy'; readonly of: VolumeChoice; readonly reclaim: ReclaimPolicy }
  | {
      readonly do: 'create-claim';
      readonly name: string;
      readonly sizeGi: number;
      readonly storageClass: string;
      readonly mode: AccessMode;
      readonly volume?: string;
      readonly from?: DataSourceChoice;
    }
  | { readonly do: 'resize-claim'; readonly name: string; readonly sizeGi: number }
  | { readonly do: 'label-claim'; readonly name: string; readonly value: string }
  | { readonly do: 'delete-claim'; readonly name: string }
  /** `cpu`: how many cores it requests. `critical`: with a high priority. */
  | { readonly do: 'create-pod'; readonly name: string; readonly claims: readonly string[]; readonly cpu?: number; readonly critical?: boolean }
  | { readonly do: 'delete-pod'; readonly name: string; readonly atOnce: boolean }
  | { readonly do: 'create-stateful-set'; readonly name: string; readonly replicas: number; readonly storageClass: string; readonly deletesClaims: boolean }
  | { readonly do: 'scale-stateful-set'; readonly name: string; readonly replicas: number }
  | { readonly do: 'delete-stateful-set'; readonly name: string }
  | { readonly do: 'create-deployment'; readonly name: string; readonly replicas: number; readonly claim: string }
  | { readonly do: 'scale-deployment'; readonly name: string; readonly replicas: number }
  | { readonly do: 'delete-deployment'; readonly name: string }
  | { readonly do: 'cordon' | 'uncordon' | 'drain'; readonly node: string }
  /** The machine is switched off and its Node deleted; another machine of the same name joins later. */
  | { readonly do: 'remove-node'; readonly node: string; readonly backMs: number }
  /** The machine is switched off, without a taint. */
  | { readonly do: 'switch-off'; readonly node: string; readonly backMs: number }
  /** Another client creates a volume's recycler pod, the same to the last field, or replaces it; `ends`: and says that it has succeeded. */
  | { readonly do: 'forge-recycler-pod'; readonly volume: string; readonly replaces: boolean; readonly ends: boolean }
  /** Another client says that the real recycler pod has succeeded. */
  | { readonly do: 'forge-success'; readonly volume: string }
  /** The machine is switched off, and tainted as out of service after a while; the taint is removed when the machine is back. */
  | { readonly do: 'out-of-service'; readonly node: string; readonly saidMs: number; readonly backMs: number };

/** A clone of another claim, a snapshot, or a kind that a volume populator would know. */
export type DataSourceChoice = 'claim' | 'snapshot' | 'backup';

export type ReclaimPolicy = 'Delete' | 'Retain' | 'Recycle';
export type AccessMode = 'ReadWriteOnce' | 'ReadWriteOncePod' | 'ReadWriteMany';

/** A volume by its name, or by its claim: names of provisioned volumes are not known beforehand. */
export type VolumeChoice = { readonly volume: string } | { readonly claim: string } | { readonly anyReleased: number };

export interface TimedAction {
  /** Milliseconds since the world was ready. */
  readonly at: number;
  readonly who: 'user' | 'admin' | 'autoscaler' | 'intruder' | 'developer';
  readonly action: UserAction;
}

export function describeAction(action: UserAction): string {
  const { do: what, ...rest } = action;
  const details = Object.entries(rest).map(([name, value]) =>
    name === 'name' || name === 'node' ? String(value) : `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  return [what, ...details].join(' ');
}
