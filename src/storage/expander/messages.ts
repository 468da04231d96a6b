/** The messages of Kubernetes' expand controller, and of external-resizer for its drivers. */
export const messages = {
  external: 'waiting for an external controller to expand this PVC',
  migrated: (plugin: string) => `CSI migration enabled for ${plugin}; waiting for external resizer to expand the pvc`,
  resizing: (volume: string) => `External resizer is resizing volume ${volume}`,
  nodeRequired: 'Require file system resize of volume on node',
  succeeded: { inTree: (claim: string) => `ExpandVolume succeeded for volume ${claim}`, external: 'Resize volume succeeded' },
  failed: {
    inTree: (claim: string, why: string) => `error expanding pvc ${claim}: ${why}`,
    external: (volume: string, driver: string, why: string) => `resize volume "${volume}" by resizer "${driver}" failed: ${why}`,
  },
} as const;
