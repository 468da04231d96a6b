/** The messages of external-resizer's modify controller. */
export const messages = {
  modifying: (claim: string, attributesClass: string) => `external resizer is modifying volume ${claim} with vac ${attributesClass}`,
  modified: (claim: string, attributesClass: string) => `external resizer modified volume ${claim} with vac ${attributesClass} successfully`,
  stillModifying: (why: string, attributesClass: string) => `${why}. Still modifying to VAC ${attributesClass}`,
  canceled: 'Cancelled modify.',
  missing: (attributesClass: string) => `VAC "${attributesClass}" does not exist.`,
  /** Upstream asks the wrong driver, or none. */
  otherDriver: (attributesClass: string, its: string, driver: string) =>
    `VAC ${attributesClass} is for driver ${its} which does not match driver name ${driver}`,
  noCapability: 'CSI driver does not support VolumeAttributesClass: controller MODIFY_VOLUME capability is not reported',
  noCsi: (volume: string) => `volume ${volume} is not a CSI volume: only volumes of CSI drivers can be modified by a VolumeAttributesClass`,
  inProgress: (target: string) => `Modifying volume to "${target}" is in progress.`,
  stillInProgress: (target: string) => `Modifying volume to "${target}" is still in progress.`,
  failed: (target: string) => `Modifying volume to "${target}" failed. Waiting for retry.`,
} as const;
