import type { Node, Pod, Service } from '../../api/generated/types.ts';
import { nodeKind } from '../../api/kinds/node.ts';
import { serviceKind } from '../../api/kinds/service.ts';
import { podKind } from '../../api/kinds/workloads/pod.ts';
import { type Cache, type Change, type Index, keyOf } from '../../machinery/cache.ts';
import type { Informers } from '../../machinery/informers.ts';
import { nodeOfPod } from '../pods/on-node.ts';
import { Selections } from '../pods/selections.ts';
import { isPodReady, isPodTerminal } from '../pods/state.ts';
import { isSelecting } from './members.ts';

export interface Watcher {
  /** The service changed, or pods behind it did. */
  readonly service: (key: string) => void;
  /** Pods behind the service are on a node that came, went, or moved to another zone. */
  readonly node?: (key: string) => void;
}

/** Which pods each service selects, kept up with each change; whoever watches hears of a service when its endpoints may be others. */
export class ServicePods {
  readonly services: Cache<Service>;
  readonly #pods: Cache<Pod>;
  readonly #nodes: Cache<Node>;
  readonly #podsOnNode: Index<Pod>;
  readonly #selections: Selections;
  readonly #watchers: Watcher[] = [];

  constructor(informers: Informers) {
    this.services = informers.cache(serviceKind);
    this.#pods = informers.cache(podKind);
    this.#nodes = informers.cache(nodeKind);
    this.#podsOnNode = this.#pods.addIndex(nodeOfPod);
    this.#selections = new Selections(this.#pods);
    this.services.subscribe((change) => this.#sawService(change));
    this.#pods.subscribe((change) => this.#sawPod(change));
    this.#nodes.subscribe((change) => this.#sawNode(change));
  }

  watch(watcher: Watcher): void {
    this.#watchers.push(watcher);
  }

  /** By name. */
  of(key: string): readonly Pod[] {
    return this.#selections.members(key).toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  }

  zoneOf(name: string): { readonly zone: string | undefined } | undefined {
    const node = this.#nodes.getKey(name);
    return node === undefined ? undefined : { zone: zoneLabel(node) };
  }

  #sawService({ before, after }: Change<Service>): void {
    const key = keyOf((after ?? before)?.metadata ?? {});
    if (!isSame(selectorOf(before), selectorOf(after))) this.#selections.select(key, matching(selectorOf(after)));
    for (const { service } of this.#watchers) service(key);
  }

  #sawPod(change: Change<Pod>): void {
    const concerned = this.#selections.change(change);
    if (concerned.length === 0 || !isReachedOtherwise(change)) return;
    for (const { service } of this.#watchers) concerned.forEach(service);
  }

  #sawNode({ before, after }: Change<Node>): void {
    if (before !== undefined && after !== undefined && zoneLabel(before) === zoneLabel(after)) return;
    const concerned = new Set(this.#podsOnNode.get((after ?? before)?.metadata.name ?? '').flatMap((pod) => this.#selections.selecting(pod)));
    for (const { node } of this.#watchers) if (node !== undefined) concerned.forEach(node);
  }
}

const zoneLabel = ({ metadata }: Node): string | undefined => metadata.labels?.['topology.kubernetes.io/zone'];

const selectorOf = (service: Service | undefined): Readonly<Record<string, string>> | undefined =>
  service !== undefined && isSelecting(service) ? service.spec.selector : undefined;

/** One without any requirement selects all pods of its namespace. */
function matching(selector: Readonly<Record<string, string>> | undefined): ((labels: Pod['metadata']['labels']) => boolean) | undefined {
  if (selector === undefined) return undefined;
  const wanted = Object.entries(selector);
  return (labels) => wanted.every(([key, value]) => labels !== undefined && Object.hasOwn(labels, key) && labels[key] === value);
}

/** Whether anything changed that endpoints say of a pod. */
function isReachedOtherwise({ before, after }: Change<Pod>): boolean {
  if (before === undefined || after === undefined || before.metadata.uid !== after.metadata.uid) return true;
  return !isSame(facts(before), facts(after));
}

const facts = (pod: Pod): unknown => [
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
