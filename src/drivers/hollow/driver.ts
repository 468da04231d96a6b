import type { TopologySelectorTerm, VolumeNodeAffinity } from '../../api/generated/types.ts';
import type { Asset, CreateRequest } from '../../api/volumes/intent.ts';
import { done, type DriverAnswer, failed, succeeded, type VolumeDriver } from '../contract.ts';

export interface HollowDriverOptions {
  /** The driver's name: 'ebs.csi.aws.com'. */
  readonly name: string;
  /** The zones of its volumes; empty: no topology. */
  readonly zones: readonly string[];
  /** Undefined: the node is in none of the zones. */
  readonly zoneOf: (node: string) => string | undefined;
}

/**
 * A driver without a backend, for hollow nodes: its volumes have names, sizes and zones like cloud disks, and can be attached and expanded.
 * Only the API has state, so every call succeeds.
 */
export function hollowDriver({ name: driver, zones, zoneOf }: HollowDriverOptions): VolumeDriver {
  const handleFor = (name: string) => name;
  return {
    capabilities: { name: driver, provisions: true, deletes: true, mountOptions: true, block: true, expands: 'always', attaches: true },
    handleFor,
    handleOf: ({ csi }) => (csi?.driver === driver ? csi.volumeHandle : undefined),
    createVolume: async ({ name, ...request }): Promise<DriverAnswer<Asset>> => {
      const source = { csi: { driver, volumeHandle: handleFor(name) } };
      const asset = { handle: handleFor(name), capacity: request.capacity, source };
      if (zones.length === 0) return succeeded(asset);
      const zone = zoneFor(name, request, { zones, zoneOf });
      if (zone === undefined) return failed('ResourceExhausted', `no zone of ${zones.join(', ')} is one that the claim's class allows`);
      return succeeded({ ...asset, nodeAffinity: inZone(zone) });
    },
    deleteVolume: async () => done,
    listVolumes: async () => succeeded([]),
    controllerExpandVolume: async ({ capacity }) => succeeded({ capacity, nodeExpansionRequired: false }),
    attacher: { controllerPublishVolume: async () => succeeded({}), controllerUnpublishVolume: async () => done },
  };
}

const zoneLabel = 'topology.kubernetes.io/zone';

export const inZone = (zone: string): VolumeNodeAffinity => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: zoneLabel, operator: 'In', values: [zone] }] }] },
});

/** The selected node's zone; otherwise an allowed zone, always the same for the same volume. */
function zoneFor(
  name: string,
  { selectedNode, allowedTopologies = [] }: Pick<CreateRequest, 'selectedNode' | 'allowedTopologies'>,
  { zones, zoneOf }: Pick<HollowDriverOptions, 'zones' | 'zoneOf'>,
): string | undefined {
  const allowed = zones.filter((zone) => allowedTopologies.length === 0 || allowedTopologies.some((term) => allows(term, zone)));
  const chosen = selectedNode === undefined ? undefined : zoneOf(selectedNode);
  if (chosen !== undefined) return allowed.includes(chosen) ? chosen : undefined;
  let sum = 0;
  for (let i = 0; i < name.length; i++) sum += name.charCodeAt(i);
  return allowed[sum % allowed.length];
}

export const allows = ({ matchLabelExpressions = [] }: TopologySelectorTerm, zone: string): boolean =>
  matchLabelExpressions.every(({ key, values }) => key !== zoneLabel || (values ?? []).includes(zone));
