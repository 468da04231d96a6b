import { eventKind } from '../api/kinds/core/event.ts';
import { type Client, createClient } from '../client/client.ts';
import type { Stoppable } from '../client/controller/leader-elected-controllers.ts';
import { keyOf } from '../client/informers/cache.ts';
import { Informers } from '../client/informers/informers.ts';
import { Trigger, type LoopOptions, runController } from '../client/controller/loop.ts';
import { EventRecorder } from '../client/events/event-recorder.ts';
import type { Transport } from '../client/transport.ts';
import type { World } from '../world/world.ts';
import { NodeAllocations } from './allocations.ts';
import type { Host } from './host.ts';
import { LeaseRenewals } from './lease/lease-renewals.ts';
import { registration } from './registration/controller.ts';
import { podsController } from './pod-worker/controller.ts';
import { HollowRuntime } from './runtimes/hollow/hollow-runtime.ts';
import { HollowVolumeManager } from './runtimes/hollow/hollow-volume-manager.ts';
import { VolumesInUse } from './volumes-in-use.ts';
import { NodeCaches } from './cache/node-caches.ts';
import { nodeSources } from './cache/sources.ts';

export interface HollowNodesOptions {
  readonly world: World;
  readonly hosts: ReadonlyMap<string, Host>;
  /** The informers', which the nodes share. */
  readonly readTransport: Transport;
  /** The event recorder's, which the nodes share. */
  readonly eventTransport: Transport;
  /** A node's own, for what it writes about itself and its pods. */
  readonly transportOf: (node: string) => Transport;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  /** For tests: see `LoopOptions`. */
  readonly onAction?: LoopOptions['onAction'];
}

export interface HollowNodes extends Stoppable {
  /** Resolves once every node is registered and ready. */
  readonly ready: Promise<void>;
  /** A further machine, which registers its node. */
  add(host: Host): void;
  /** The machine is switched off: its node is not heard of any more. */
  remove(name: string): void;
  stop(): Promise<void>;
}

/** Nodes on which nothing runs, all of them in this process: one set of caches, one runtime, one loop for each task. */
export function runHollowNodes(options: HollowNodesOptions): HollowNodes {
  const { world, sha256, onAction } = options;
  const hosts = new Map(options.hosts);
  const informers: Informers = new Informers({ world, client: createClient({ transport: options.readTransport }) });
  const clientOf = clients(options, informers);
  const recorder = new EventRecorder({
    world,
    client: createClient({ transport: options.eventTransport }),
    eventKind,
    component: 'kubelet',
    waitingLimit: eventLimit + eventsOfNode * hosts.size,
  });
  const [allocations, inUse] = [new NodeAllocations(), new VolumesInUse()];
  const caches = new NodeCaches({ hosts, informers, allocations, inUse, sha256 });
  const renewals = new LeaseRenewals({ world, clientOf, node: (name) => caches.nodes.getKey(name) });
  const unmounted = new Trigger<string>();
  const changed = new Trigger<string>();
  /** Pods of a machine that is switched on again: what happened to them meanwhile was told to no agent. */
  const [returned, returnedVolumes] = [new Trigger<string>(), new Trigger<string>()];
  const runtime = new HollowRuntime({ world, isHere: (pod) => caches.hostOf(pod) !== undefined, sha256 });
  const volumes = new HollowVolumeManager({ caches, inUse, recorder, onUnmounted: (node) => unmounted.fire(node) });
  const pods = podsController({ world, hosts, caches, clientOf, recorder, allocations, runtime, volumes, services: () => [], sha256 });
  // After the pods controller: it has to know a pod before the runtime recovers it.
  caches.pods.subscribe((change) => runtime.podChanged(change));
  void pods.recover();
  const ready = countDown(hosts.size);
  const loop = { world, informers, ...(onAction === undefined ? {} : { onAction }) };
  const loops = [
    runController(
      registration({
        hosts,
        clientOf,
        informers,
        recorder,
        world,
        inUse,
        volumesInUse: (node) => new Set([...caches.attachableVolumes(node), ...volumes.attachedVolumes(node)]),
        sources: [...nodeSources(caches), unmounted, changed],
        onRegistered: (node) => renewals.add(node),
        onReady: ready.one,
        onReported: (node) => volumes.onStatusReported(node),
      }),
      loop,
    ),
    runController({ ...volumes.controller, sources: [...volumes.controller.sources, returnedVolumes] }, loop),
    runController({ ...pods.controller, sources: [...pods.controller.sources, returned] }, loop),
  ];
  informers.start();
  const timers = { stop: () => runtime.close() };
  return {
    ready: ready.all,
    add(host) {
      hosts.set(host.name, host);
      changed.fire(host.name);
      for (const pod of caches.podsOn(host.name)) {
        runtime.podChanged({ before: undefined, after: pod });
        for (const trigger of [returned, returnedVolumes]) trigger.fire(keyOf(pod.metadata));
      }
    },
    remove(name) {
      hosts.delete(name);
      renewals.remove(name);
      changed.fire(name);
    },
    stop: () => stopAll([renewals, ...loops, timers, recorder, informers]),
  };
}

/** Events of a node that starts, and of many pods that start at once. */
const eventsOfNode = 6;
const eventLimit = 10_000;

function clients({ transportOf }: HollowNodesOptions, informers: Informers): (node: string) => Client {
  const made = new Map<string, Client>();
  return (node) => {
    let client = made.get(node);
    if (client === undefined) made.set(node, (client = createClient({ transport: transportOf(node), observer: informers.observer })));
    return client;
  };
}

function countDown(count: number): { readonly one: () => void; readonly all: Promise<void> } {
  let left = count;
  let resolve = (): void => undefined;
  const all = new Promise<void>((done) => {
    resolve = done;
  });
  if (left === 0) resolve();
  const one = () => {
    if (--left === 0) resolve();
  };
  return { one, all };
}

async function stopAll(parts: readonly Stoppable[]): Promise<void> {
  await Promise.all(parts.map(async (part) => part.stop()));
}
