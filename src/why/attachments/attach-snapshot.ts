/** The attach/detach controller's snapshot of one volume on one node, made from an object graph. */
import type { Stored } from '../../api/stored.ts';
import type { Node, Pod } from '../../api/generated/types.ts';
import { type Attachable, attachableOf, uniqueNameOf } from '../../storage/volumes/attachable.ts';
import { isReady, type CompetingAttachment, readAttachment, readNode, type AttachDetachSnapshot } from '../../storage/attach-detach/snapshot.ts';
import { hasEnded } from '../../storage/volumes/pods.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import type { Fact } from '../explanation/explanation.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import { someOf } from '../explanation/words.ts';

export interface VolumeAtNode {
  readonly volume: Volume;
  readonly node: string;
  readonly graph: ObjectGraph;
}

/** Undefined: the volume is not attachable, its CSIDriver requires no attach, or the attachments were not read. */
export function attachSnapshotOf({ volume, node, graph }: VolumeAtNode): AttachDetachSnapshot | undefined {
  const attachable = attachableOf(volume.object);
  if (attachable === undefined || !graph.wasRead('attachments') || graph.csiDriver(attachable.driver)?.spec.attachRequired === false) return undefined;
  const attachment = graph.attachmentsOf(volume.name).find(({ spec }) => spec.nodeName === node);
  const users = usersOn(volume, node, graph);
  const claim = volume.claim === undefined ? undefined : graph.claim(volume.claim.key);
  const isBound = claim !== undefined && claim.uid === volume.claim?.uid && claim.volumeName === volume.name;
  return {
    target: { id: attachment?.metadata.name ?? '', ...attachable, node, uniqueName: uniqueNameOf(attachable) },
    attachRequired: true,
    desiredBy: isBound ? users.map((pod) => ({ pod, volume: volume.object })) : [],
    users: users.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`),
    node: nodeState(graph, node, attachable),
    attachment: readAttachment(attachment),
    competitors: attachable.exclusive ? competitorsOf({ volume, node, graph }, attachable) : [],
    unwantedSince: undefined,
    lastEvent: () => undefined,
  };
}

function nodeState(graph: ObjectGraph, name: string, attachable: Attachable): AttachDetachSnapshot['node'] {
  const node = graph.node(name);
  if (node !== undefined) return readNode(node, uniqueNameOf(attachable), true);
  // A node that was not read counts as healthy.
  if (!graph.wasRead('nodes')) return { state: 'known', managed: true, ready: true, outOfService: false, listed: true, inUse: false, heardSince: true };
  return { state: 'gone', wasInUse: false };
}

/** Pods on the node that use the volume. */
export const usersOn = ({ claim }: Volume, node: string, graph: ObjectGraph): readonly Stored<Pod>[] =>
  claim === undefined ? [] : graph.podsUsing(claim.key).filter((pod) => pod.spec.nodeName === node && !hasEnded(pod));

function competitorsOf({ volume, node, graph }: VolumeAtNode, attachable: Attachable): readonly CompetingAttachment[] {
  return graph.attachmentsOf(volume.name).flatMap((attachment) => {
    const there = attachment.spec.nodeName;
    if (there === node) return [];
    const pods = usersOn(volume, there, graph).map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }));
    const inUse = graph.node(there)?.status.volumesInUse?.includes(uniqueNameOf(attachable)) ?? false;
    return [{ node: there, attachment: readAttachment(attachment), pods, inUse }];
  });
}

export function attachFacts({ volume, graph }: VolumeAtNode, { target, users }: AttachDetachSnapshot): readonly Fact[] {
  const attachments = graph.attachmentsOf(volume.name).map(({ spec, status, metadata }) => {
    const how = metadata.deletionTimestamp !== undefined ? 'being detached' : status.attached ? 'attached' : 'not attached yet';
    return `node/${spec.nodeName} (${how})`;
  });
  return [
    { label: 'driver', text: target.driver },
    { label: 'attachments', text: attachments.length === 0 ? 'none' : someOf(attachments) },
    ...(users.length === 0 ? [] : [{ label: 'used by', text: someOf(users.map((key) => `pod ${key}`)) }]),
  ];
}

/** The node is gone or not ready, so it may still write. */
export const isUnresponsive = (node: Stored<Node> | undefined, graph: ObjectGraph): boolean => graph.wasRead('nodes') && (node === undefined || !isReady(node));
