import type { Node, Pod, Service } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { nodeKind } from '../../../api/kinds/core/node.ts';
import { serviceKind } from '../../../api/kinds/core/service.ts';
import { podKind } from '../../../api/kinds/pod/pod.ts';
import { type Cache, type Change, type Index, keyOf } from '../../../client/informers/cache.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { nodeOfPod } from '../../pods/on-node.ts';
import { PodSelectorIndex } from '../../pods/pod-selector-index.ts';
import { isPodReady, isPodTerminal } from '../../pods/state.ts';
import { isSelecting } from './members.ts';

export interface ServicePodsListener {
  /** The Service or its pods changed. */
  readonly service: (key: string) => void;
  /** A node with pods of the Service was added or deleted, or its zone changed. */
  readonly node?: (key: string) => void;
}

/** An index of the pods of each Service. Listeners get the key of a Service when its endpoints may change. */
export class ServicePods {
  readonly services: Cache<Service>;
  readonly #pods: Cache<Pod>;
  readonly #nodes: Cache<Node>;
  readonly #podsOnNode: Index<Pod>;
  readonly #selections: PodSelectorIndex;
  readonly #listeners: ServicePodsListener[] = [];

  constructor(informers: Informers) {
    this.services = informers.cache(serviceKind);
    this.#pods = informers.cache(podKind);
    this.#nodes = informers.cache(nodeKind);
    this.#podsOnNode = this.#pods.addIndex(nodeOfPod);
    this.#selections = new PodSelectorIndex(this.#pods);
    this.services.subscribe((change) => this.#onServiceChange(change));
    this.#pods.subscribe((change) => this.#onPodChange(change));
    this.#nodes.subscribe((change) => this.#onNodeChange(change));
  }

  addListener(watcher: ServicePodsListener): void {
    this.#listeners.push(watcher);
  }

  /** Sorted by name. */
  of(key: string): readonly Stored<Pod>[] {
    return this.#selections.members(key).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  zoneOf(name: string): { readonly zone: string | undefined } | undefined {
    const node = this.#nodes.getKey(name);
    return node === undefined ? undefined : { zone: zoneLabel(node) };
  }

  #onServiceChange({ before, after }: Change<Service>): void {
    const key = keyOf((after ?? before)?.metadata ?? {});
    if (!isSame(selectorOf(before), selectorOf(after))) this.#selections.select(key, matching(selectorOf(after)));
    for (const { service } of this.#listeners) service(key);
  }

  #onPodChange(change: Change<Pod>): void {
    const concerned = this.#selections.change(change);
    if (concerned.length === 0 || !mayChangeEndpoints(change)) return;
    for (const { service } of this.#listeners) concerned.forEach(service);
  }

  #onNodeChange({ before, after }: Change<Node>): void {
    if (before !== undefined && after !== undefined && zoneLabel(before) === zoneLabel(after)) return;
    const concerned = new Set(this.#podsOnNode.get((after ?? before)?.metadata.name ?? '').flatMap((pod) => this.#selections.selecting(pod)));
    for (const { node } of this.#listeners) if (node !== undefined) concerned.forEach(node);
  }
}

const zoneLabel = ({ metadata }: Node): string | undefined => metadata.labels?.['topology.kubernetes.io/zone'];

const selectorOf = (service: Service | undefined): Readonly<Record<string, string>> | undefined =>
  service !== undefined && isSelecting(service) ? service.spec.selector : undefined;

/** An empty selector selects all pods of the namespace. */
function matching(selector: Readonly<Record<string, string>> | undefined): ((labels: Pod['metadata']['labels']) => boolean) | undefined {
  if (selector === undefined) return undefined;
  const wanted = Object.entries(selector);
  return (labels) => wanted.every(([key, value]) => labels !== undefined && Object.hasOwn(labels, key) && labels[key] === value);
}

/** Whether a change of a pod may change its endpoint. */
function mayChangeEndpoints({ before, after }: Change<Pod>): boolean {
  if (before === undefined || after === undefined || before.metadata.uid !== after.metadata.uid) return true;
  return !isSame(endpointFacts(before), endpointFacts(after));
}

const endpointFacts = (pod: Pod): unknown => [
  isPodReady(pod),
  isPodTerminal(pod),
  pod.metadata.deletionTimestamp,
  pod.metadata.labels,
  pod.status.podIP,
  pod.status.podIPs,
  pod.spec.nodeName,
  pod.spec.hostname,
  pod.spec.subdomain,
];

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
