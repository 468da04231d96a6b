import type { Node } from '../api/generated/types.ts';
import type { LiveNodeInfo } from './node-info.ts';

/**
 * Nodes in search order, round robin over the zones, so that a search that ends early has examined all zones (node_tree.go).
 *
 *     zone-a: a1 a2 a3   zone-b: b1   →   a1 b1 a2 a3
 */
export class NodeTree {
  readonly #zones = new Map<string, Set<LiveNodeInfo>>();
  readonly #zoneOf = new Map<LiveNodeInfo, string>();
  #list: readonly LiveNodeInfo[] | undefined = [];

  /** Adds a node, or moves it to the zone that its labels name. */
  set(info: LiveNodeInfo): void {
    const zone = zoneOf(info.node);
    if (this.#zoneOf.get(info) === zone) return;
    this.remove(info);
    const members = this.#zones.get(zone);
    if (members === undefined) this.#zones.set(zone, new Set([info]));
    else members.add(info);
    this.#zoneOf.set(info, zone);
    this.#list = undefined;
  }

  remove(info: LiveNodeInfo): void {
    const zone = this.#zoneOf.get(info);
    if (zone === undefined) return;
    this.#zoneOf.delete(info);
    const members = this.#zones.get(zone);
    members?.delete(info);
    if (members?.size === 0) this.#zones.delete(zone);
    this.#list = undefined;
  }

  get list(): readonly LiveNodeInfo[] {
    return (this.#list ??= interleaved([...this.#zones.values()].map((members) => [...members])));
  }
}

function interleaved(zones: readonly (readonly LiveNodeInfo[])[]): readonly LiveNodeInfo[] {
  const list: LiveNodeInfo[] = [];
  const longest = Math.max(0, ...zones.map((zone) => zone.length));
  for (let i = 0; i < longest; i++) {
    for (const zone of zones) {
      const info = zone[i];
      if (info !== undefined) list.push(info);
    }
  }
  return list;
}

function zoneOf({ metadata: { labels = {} } }: Node): string {
  const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? '';
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
  return `${region}\0${zone}`;
}
