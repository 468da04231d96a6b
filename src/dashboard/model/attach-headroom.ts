import type { Node } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { attachedBy, attachmentLimit } from '../../why/candidates/attach-limit.ts';
import type { StorageView } from './storage-view.ts';

/** How many more volumes of a driver can be attached to a node. */
export interface AttachHeadroom {
  readonly driver: string;
  readonly attached: readonly string[];
  /** Undefined: its CSINode sets no limit. */
  readonly limit: number | undefined;
}

export interface NodePlace {
  readonly name: string;
  readonly ready: boolean;
  readonly cordoned: boolean;
  readonly headroom: readonly AttachHeadroom[];
}

export interface ZonePlace {
  /** '': nodes without the label. */
  readonly zone: string;
  readonly nodes: readonly NodePlace[];
}

export const zoneLabel = 'topology.kubernetes.io/zone';

/** Zones with their nodes, and what is attached where, in the order of their names. */
export function placesOf(view: StorageView): readonly ZonePlace[] {
  const zones = new Map<string, NodePlace[]>();
  for (const node of view.lists.nodes) {
    const zone = node.metadata.labels?.[zoneLabel] ?? '';
    const places = zones.get(zone) ?? [];
    zones.set(zone, places);
    places.push(placeOf(node, view));
  }
  return [...zones]
    .map(([zone, nodes]) => ({ zone, nodes: nodes.toSorted((a, b) => compareNames(a.name, b.name)) }))
    .toSorted((a, b) => compareNames(a.zone, b.zone));
}

/** node-2 comes before node-10. */
const compareNames = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

function placeOf(node: Stored<Node>, view: StorageView): NodePlace {
  const { name } = node.metadata;
  const attachments = view.attachmentsAt(name);
  const csiNode = view.csiNode(name);
  const drivers = new Set([...(csiNode?.spec.drivers ?? []).map((driver) => driver.name), ...attachments.map(({ spec }) => spec.attacher)]);
  return {
    name,
    ready: node.status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True',
    cordoned: node.spec.unschedulable === true,
    headroom: [...drivers].sort().map((driver) => ({
      driver,
      attached: attachedBy(attachments, { driver, node: name }),
      limit: attachmentLimit(csiNode, driver),
    })),
  };
}

/** No slot is left. */
export const isFull = ({ attached, limit }: AttachHeadroom): boolean => limit !== undefined && attached.length >= limit;
