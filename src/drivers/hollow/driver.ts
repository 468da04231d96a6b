import type { TopologySelectorTerm, VolumeNodeAffinity } from '../../api/generated/types.ts';
import type { Asset, CreateRequest } from '../../api/volumes/intent.ts';
import { type DriverAnswer, failed, type VolumeDriver } from '../contract.ts';

export interface HollowDriverOptions {
  /** As classes and volumes name it: 'ebs.csi.aws.com'. */
  readonly name: string;
  /** Where its volumes can be; none: everywhere. */
  readonly zones: readonly string[];
  /** Undefined: the node is in none of them. */
  readonly zoneOf: (node: string) => string | undefined;
}

/**
 * A driver behind which there is nothing, for hollow nodes: its volumes have names and sizes, are in a zone like the disks of a
 * cloud, and can be attached and expanded. What it makes is remembered by the API alone, so it always does what it is asked.
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
      if (zones.length === 0) return done(asset);
      const zone = zoneFor(name, request, { zones, zoneOf });
      if (zone === undefined) return failed('ResourceExhausted', `no zone of ${zones.join(', ')} is one that the claim's class allows`);
      return done({ ...asset, nodeAffinity: inZone(zone) });
    },
    deleteVolume: async () => done(undefined),
    listVolumes: async () => done([]),
    controllerExpandVolume: async ({ capacity }) => done({ capacity, nodeExpansionRequired: false }),
    attacher: { controllerPublishVolume: async () => done({}), controllerUnpublishVolume: async () => done(undefined) },
  };
}

const done = <T>(value: T): DriverAnswer<T> => ({ ok: true, value });

const zoneLabel = 'topology.kubernetes.io/zone';

export const inZone = (zone: string): VolumeNodeAffinity => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: zoneLabel, operator: 'In', values: [zone] }] }] },
});

/** That of the node which was chosen; else one of those allowed, always the same for the same volume. */
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
