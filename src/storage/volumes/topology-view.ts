import type { CSINode, Node } from '../../api/generated/types.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import type { Labels } from '../../api/selectors/label-selector.ts';
import { sortedJson } from '../../api/sorted-json.ts';
import type { TopologySegments } from '../../api/volumes/intent.ts';
import type { Cache, Index } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { segmentsOf } from './topology-segments.ts';

/** The topology of the nodes as CSI drivers registered it. What all nodes have in common is computed once until a node's labels change. */
export class TopologyView {
  readonly #csiNodes: Cache<CSINode>;
  readonly #nodes: Cache<Node>;
  readonly #withKeys: Index<CSINode>;
  readonly #segments = new Map<string, readonly TopologySegments[]>();

  constructor(informers: Informers) {
    this.#csiNodes = informers.cache(csiNodeKind);
    this.#nodes = informers.cache(nodeKind);
    this.#withKeys = this.#csiNodes.addIndex(driversWithTopology);
    this.#nodes.subscribe(({ before, after }) => {
      if (sortedJson(before?.metadata.labels ?? {}) !== sortedJson(after?.metadata.labels ?? {})) this.#segments.clear();
    });
  }

  topologyKeys(driver: string, node: string): readonly string[] | undefined {
    const csiNode = this.#csiNodes.getKey(node);
    return csiNode === undefined ? undefined : keysOf(csiNode, driver);
  }

  anyTopologyKeys(driver: string): readonly string[] {
    const [csiNode] = this.#withKeys.get(driver);
    return csiNode === undefined ? [] : keysOf(csiNode, driver);
  }

  /** The nodes on which the driver is registered with topology keys. */
  nodesOf(driver: string): readonly string[] {
    return this.#withKeys.get(driver).map(({ metadata }) => metadata.name);
  }

  labels(node: string): Labels | undefined {
    return this.#nodes.getKey(node)?.metadata.labels;
  }

  segments(keys: readonly string[]): readonly TopologySegments[] {
    const sorted = [...keys].sort();
    const name = JSON.stringify(sorted);
    const known = this.#segments.get(name);
    if (known !== undefined) return known;
    const found = new Map<string, TopologySegments>();
    for (const { metadata } of this.#nodes.list()) {
      const segments = segmentsOf(metadata.labels ?? {}, sorted);
      if (segments !== undefined) found.set(JSON.stringify(segments), segments);
    }
    const segments = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, term]) => term);
    this.#segments.set(name, segments);
    return segments;
  }
}

const keysOf = ({ spec }: CSINode, driver: string): readonly string[] => spec.drivers?.find(({ name }) => name === driver)?.topologyKeys ?? [];

const driversWithTopology = ({ spec }: CSINode): readonly string[] =>
  (spec.drivers ?? []).flatMap(({ name, topologyKeys }) => ((topologyKeys ?? []).length === 0 ? [] : [name]));
