/** A volume on a node, by the backend's names for both: the arguments of CSI's ControllerPublishVolume. */
export interface PublishTarget {
  readonly handle: string;
  readonly nodeId: string;
}

/** What a driver is asked to attach. */
export interface PublishRequest extends PublishTarget {
  readonly readOnly: boolean;
  /** As the PersistentVolume has them. */
  readonly volumeAttributes: Readonly<Record<string, string>>;
}
