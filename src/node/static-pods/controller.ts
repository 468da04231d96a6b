import type { Pod } from '../../api/generated/types.ts';
import { MIRROR_POD } from '../../api/kinds/pod/pod-annotations.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Client } from '../../client/client.ts';
import { type Controller, type Outcome, outcomeOf, source, Trigger } from '../../client/controller/loop.ts';
import { type Change, keyOf } from '../../client/informers/cache.ts';
import type { Manifests } from '../../world/manifests.ts';
import type { Log } from '../../world/world.ts';
import type { NodeCaches } from '../cache/node-caches.ts';
import { decideStaticPod, type StaticPodAction, type StaticPodSnapshot } from './decide.ts';
import { type StaticPod, staticPod } from './manifest.ts';

export interface StaticPodsOptions {
  readonly node: string;
  readonly caches: Pick<NodeCaches, 'pods' | 'nodes' | 'podsOn'>;
  readonly client: Client;
  readonly log: Log;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  readonly manifests: Manifests;
  readonly directory: string;
}

/**
 * Pods whose manifests lie on the node. Each has a mirror pod in the API, which the node runs as any other pod: it starts once the API server has it, goes on without
 * the API server, and is made again if it is deleted. Keys are 'namespace/name' of mirror pods.
 */
export function staticPods({
  node,
  caches,
  client,
  log,
  sha256,
  manifests,
  directory,
}: StaticPodsOptions): Controller<string, StaticPodSnapshot, StaticPodAction> {
  const trigger = new Trigger<string>();
  /** Undefined: the directory has not been read yet, and no pod is without its manifest. */
  let wanted: ReadonlyMap<string, StaticPod> | undefined;
  const mirrorPods = (): readonly string[] => caches.podsOn(node).flatMap((pod) => (isMirror(pod) ? [keyOf(pod.metadata)] : []));
  const onFiles = (files: ReadonlyMap<string, Uint8Array>): void => {
    const before = wanted?.keys() ?? [];
    wanted = readAll(files);
    for (const key of new Set([...before, ...wanted.keys(), ...mirrorPods()])) trigger.fire(key);
  };
  const readAll = (files: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, StaticPod> => {
    const read = new Map<string, StaticPod>();
    for (const [path, bytes] of files) {
      try {
        const pod = staticPod(bytes, { path, node, sha256 });
        if (read.has(pod.key)) throw new Error(`another file has a pod ${pod.key} already`);
        read.set(pod.key, pod);
      } catch (error) {
        log.warn('a manifest of a static pod cannot be used', { path, error: (error as Error).message });
      }
    }
    return read;
  };
  const keysOf = ({ before, after }: Change<Pod>): readonly string[] => {
    const key = keyOf((after ?? before)?.metadata ?? {});
    const isMirrorHere = [before, after].some((pod) => pod?.spec.nodeName === node && isMirror(pod));
    return isMirrorHere || wanted?.has(key) === true ? [key] : [];
  };
  return {
    name: 'static-pods',
    sources: [
      trigger,
      source(podKind, (change) => keysOf(change)),
      // Nothing is created before the node is registered.
      source(nodeKind, ({ before, after }) => (before === undefined && after?.metadata.name === node ? (wanted?.keys() ?? []) : [])),
      { subscribe: () => manifests.watch(directory, onFiles) },
    ],
    snapshot: (key) => {
      const own = caches.nodes.getKey(node);
      return wanted === undefined || own === undefined ? undefined : { node: own, wanted: wanted.get(key), found: caches.pods.getKey(key) };
    },
    decide: decideStaticPod,
    perform: (action) => perform(action, client),
  };
}

const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[MIRROR_POD] !== undefined;

async function perform(action: StaticPodAction, client: Client): Promise<Outcome> {
  if (action.do === 'create-mirror-pod') return outcomeOf(await client.create(podKind, action.pod));
  const { namespace = '', name, uid } = action.pod.metadata;
  return outcomeOf(await client.delete(podKind, { namespace, name }, { preconditions: { uid } }));
}
