import type { PersistentVolume, Pod, VolumeAttachment } from '../../../api/generated/types.ts';
import type { Entry, Store } from '../../../store/contract.ts';
import type { World } from '../../../world/world.ts';
import { type FollowedChange, PrefixFollower } from '../../objects/follow-prefix.ts';
import { NodeGraph } from './graph.ts';

const PODS = '/registry/pods/';
const VOLUMES = '/registry/persistentvolumes/';
const ATTACHMENTS = '/registry/storage.k8s.io/volumeattachments/';

export interface PopulatedGraph {
  /** The first call waits until everything was read. */
  current(): NodeGraph | Promise<NodeGraph>;
  stop(): void;
}

/**
 * Populates the graph from a store and applies every change. Nothing is read before the first call: a cluster whose nodes all run in the
 * server's process needs no graph.
 */
export function populateGraph(store: Store, { timers }: Pick<World, 'timers'>): PopulatedGraph {
  const stops: (() => void)[] = [];
  let state: NodeGraph | Promise<NodeGraph> | undefined;
  // Each page is read in another turn of the event loop.
  const pause = () => new Promise<void>((resolve) => timers.soon(resolve));

  const follow = async (prefix: string, take: ApplyChange): Promise<void> => {
    const follower = new PrefixFollower({ store, timers, prefix, beforePage: pause, changes: (changes) => changes.forEach(take) });
    stops.push(() => follower.stop());
    await follower.start();
  };
  const load = async (): Promise<NodeGraph> => {
    const graph = new NodeGraph();
    await follow(PODS, podsInto(graph));
    await follow(VOLUMES, volumesInto(graph));
    await follow(ATTACHMENTS, attachmentsInto(graph));
    state = graph;
    return graph;
  };
  return {
    current() {
      state ??= load().catch((error: unknown) => {
        // The next call tries again.
        state = undefined;
        for (const stop of stops.splice(0)) stop();
        throw error;
      });
      return state;
    },
    stop: () => stops.forEach((stop) => stop()),
  };
}

type ApplyChange = (change: Pick<FollowedChange, 'key' | 'entry'>) => void;

const bytesOf = ({ value }: Entry): Buffer => Buffer.from(value.buffer, value.byteOffset, value.byteLength);
const objectOf = (entry: Entry): unknown => JSON.parse(bytesOf(entry).toString());

/**
 * Most changes of pods are of their status, which has no references: a known pod is parsed again only if it may have got
 * ephemeral containers, and one without a node not at all.
 */
function podsInto(graph: NodeGraph): ApplyChange {
  const known = new Map<string, number>();
  return ({ key, entry }) => {
    if (entry === undefined) {
      known.delete(key);
      const [namespace = '', name = ''] = key.slice(PODS.length).split('/');
      return graph.removePod(namespace, name);
    }
    const bytes = bytesOf(entry);
    if (known.get(key) === entry.createRevision ? !bytes.includes('"ephemeralContainers"') : !bytes.includes('"nodeName"')) return;
    const pod = objectOf(entry) as Pod;
    if ((pod.spec.nodeName ?? '') === '') return;
    known.set(key, entry.createRevision);
    graph.putPod(pod);
  };
}

function volumesInto(graph: NodeGraph): ApplyChange {
  return ({ key, entry }) => {
    if (entry !== undefined && bytesOf(entry).includes('"claimRef"')) graph.putVolume(objectOf(entry) as PersistentVolume);
    else graph.removeVolume(key.slice(VOLUMES.length));
  };
}

/** The node of an attachment does not change. */
function attachmentsInto(graph: NodeGraph): ApplyChange {
  const known = new Map<string, number>();
  return ({ key, entry }) => {
    const name = key.slice(ATTACHMENTS.length);
    if (entry === undefined) {
      known.delete(key);
      return graph.removeAttachment(name);
    }
    if (known.get(key) === entry.createRevision) return;
    known.set(key, entry.createRevision);
    graph.putAttachment(name, (objectOf(entry) as VolumeAttachment).spec.nodeName);
  };
}
