import type { SecretName } from '../kinds/mooring/volume-intent.ts';

/** A volume on a node, by the backend's names for both: the arguments of CSI's ControllerPublishVolume. */
export interface PublishTarget {
  readonly handle: string;
  readonly nodeId: string;
}

/** What a driver is asked to detach. */
export interface UnpublishRequest extends PublishTarget {
  readonly secret?: SecretName;
}

/** What a driver is asked to attach. */
export interface PublishRequest extends UnpublishRequest {
  readonly readOnly: boolean;
  readonly accessModes: readonly string[];
  /** Undefined: Filesystem. */
  readonly volumeMode?: string;
  readonly fsType?: string;
  readonly mountOptions?: readonly string[];
  /** As the PersistentVolume has them. */
  readonly volumeAttributes: Readonly<Record<string, string>>;
}
