/** One volume on one node, as the attach/detach controller would see it. */
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

/** Undefined: volumes of its kind need no attaching, their driver wants none, or nobody looked. */
export function attachSnapshotOf({ volume, node, graph: sight }: VolumeAtNode): AttachDetachSnapshot | undefined {
  const attachable = attachableOf(volume.object);
  if (attachable === undefined || !sight.wasRead('attachments') || sight.csiDriver(attachable.driver)?.spec.attachRequired === false) return undefined;
  const attachment = sight.attachmentsOf(volume.name).find(({ spec }) => spec.nodeName === node);
  const users = usersOn(volume, node, sight);
  const claim = volume.claim === undefined ? undefined : sight.claim(volume.claim.key);
  const isBound = claim !== undefined && claim.uid === volume.claim?.uid && claim.volumeName === volume.name;
  return {
    target: { id: attachment?.metadata.name ?? '', ...attachable, node, uniqueName: uniqueNameOf(attachable) },
    attachRequired: true,
    desiredBy: isBound ? users.map((pod) => ({ pod, volume: volume.object })) : [],
    users: users.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`),
    node: nodeState(sight, node, attachable),
    attachment: readAttachment(attachment),
    competitors: attachable.exclusive ? rivalsOf({ volume, node, graph: sight }, attachable) : [],
    unwantedSince: undefined,
    lastEvent: () => undefined,
  };
}

function nodeState(sight: ObjectGraph, name: string, attachable: Attachable): AttachDetachSnapshot['node'] {
  const node = sight.node(name);
  if (node !== undefined) return readNode(node, uniqueNameOf(attachable), true);
  // A node that could not be looked at is taken for one that is in order.
  if (!sight.wasRead('nodes')) return { state: 'known', managed: true, ready: true, outOfService: false, listed: true, inUse: false, heardSince: true };
  return { state: 'gone', wasInUse: false };
}

/** Pods on the node that use the volume. */
export const usersOn = ({ claim }: Volume, node: string, sight: ObjectGraph): readonly Pod[] =>
  claim === undefined ? [] : sight.podsUsing(claim.key).filter((pod) => pod.spec.nodeName === node && !hasEnded(pod));

function rivalsOf({ volume, node, graph: sight }: VolumeAtNode, attachable: Attachable): readonly CompetingAttachment[] {
  return sight.attachmentsOf(volume.name).flatMap((attachment) => {
    const there = attachment.spec.nodeName;
    if (there === node) return [];
    const pods = usersOn(volume, there, sight).map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }));
    const inUse = sight.node(there)?.status.volumesInUse?.includes(uniqueNameOf(attachable)) ?? false;
    return [{ node: there, attachment: readAttachment(attachment), pods, inUse }];
  });
}

export function attachFacts({ volume, graph: sight }: VolumeAtNode, { target: pair, users }: AttachDetachSnapshot): readonly Fact[] {
  const attachments = sight.attachmentsOf(volume.name).map(({ spec, status, metadata }) => {
    const how = metadata.deletionTimestamp !== undefined ? 'being detached' : status.attached ? 'attached' : 'not attached yet';
    return `node/${spec.nodeName} (${how})`;
  });
  return [
    { label: 'driver', text: pair.driver },
    { label: 'attachments', text: attachments.length === 0 ? 'none' : someOf(attachments) },
    ...(users.length === 0 ? [] : [{ label: 'wanted by', text: someOf(users.map((key) => `pod ${key}`)) }]),
  ];
}

/** Nobody knows what it does. */
export const isUnresponsive = (node: Node | undefined, sight: ObjectGraph): boolean => sight.wasRead('nodes') && (node === undefined || !isReady(node));
