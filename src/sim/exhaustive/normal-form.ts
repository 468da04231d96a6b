import { createHash } from 'node:crypto';
import type { Facts } from '../invariants/facts.ts';
import type { PendingEffect } from '../fuzz/gate.ts';

export interface ExplorationState {
  readonly facts: Facts;
  readonly held: readonly PendingEffect[];
  /** The current revisions of all objects. */
  readonly revisions: ReadonlySet<number>;
  /** What else distinguishes states. */
  readonly more: string;
}

const uid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const hashedName = /csi-[0-9a-f]{64}/g;
const time = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g;

/**
 * The same hash for states that differ only in random names, times and revisions: the objects, the disks, and the pending effects. A pending
 * write differs if the object that it was made from has changed since.
 */
export function hashOf({ facts, held, revisions, more }: ExplorationState): string {
  const maps: Readonly<Record<string, ReadonlyMap<string, unknown>>> = {
    volume: facts.volumes,
    claim: facts.claims,
    pod: facts.pods,
    node: facts.nodes,
    attachment: facts.attachments,
    intent: facts.intents,
  };
  const names = new Map<string, string>();
  for (const claim of facts.claims.values()) names.set(claim.metadata.uid ?? '', `claim ${claim.metadata.name}`);
  for (const pod of facts.pods.values()) names.set(pod.metadata.uid ?? '', `pod ${pod.metadata.name}`);
  for (const [name, { spec }] of facts.attachments) names.set(name, `attachment ${spec.source.persistentVolumeName} ${spec.nodeName}`);
  const known = (text: string) => text.replace(hashedName, (name) => names.get(name) ?? name).replace(uid, (name) => names.get(name) ?? name);
  const lines = [
    ...Object.entries(maps).flatMap(([type, map]) => Array.from(map, ([key, object]) => `${type} ${key} ${withoutNoise(object)}`)),
    ...Array.from(facts.disks, ([handle, size]) => `disk ${handle} ${size} ${[...facts.nodesOf(handle)].sort().join(' ')}`),
    ...held.map(({ who, what, body }) => `held ${who} ${what} ${withoutNoise(body, revisions)}`),
  ].map(known);
  lines.sort();
  const unknown = new Map<string, string>();
  const stranger = (name: string) => {
    const found = unknown.get(name) ?? `stranger ${unknown.size}`;
    unknown.set(name, found);
    return found;
  };
  const text = [...lines, more].join('\n').replace(hashedName, stranger).replace(uid, stranger).replace(time, '"then"');
  return createHash('sha256').update(text).digest('base64');
}

function withoutNoise(value: unknown, revisions?: ReadonlySet<number>): string {
  const text = JSON.stringify(value, (key, item: unknown) => {
    if (key === 'managedFields' || key === 'conditions' || key === 'podIP' || key === 'podIPs' || key === 'nodeInfo' || key === 'images') return undefined;
    if (key !== 'resourceVersion') return item;
    return revisions === undefined ? undefined : revisions.has(Number(item)) ? 'current' : 'old';
  });
  return text ?? '';
}
