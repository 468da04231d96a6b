import { eventKind } from '../api/kinds/core/event.ts';
import { type Client, createClient } from '../client/client.ts';
import type { Stoppable } from '../client/controller/leader-elected-controllers.ts';
import { Informers } from '../client/informers/informers.ts';
import { Trigger, type LoopOptions, runController } from '../client/controller/loop.ts';
import { EventRecorder } from '../client/events/event-recorder.ts';
import type { Transport } from '../client/transport.ts';
import type { World } from '../world/world.ts';
import { NodeAllocations } from './allocations.ts';
import type { Host } from './host.ts';
import { LeaseRenewals } from './lease/lease-renewals.ts';
import { registration } from './registration/controller.ts';
import { hollowPods } from './runtimes/hollow/controller.ts';
import { NodeCaches } from './cache/node-caches.ts';
import { nodeSources } from './cache/sources.ts';

export interface HollowNodesOptions {
  readonly world: World;
  readonly hosts: ReadonlyMap<string, Host>;
  /** For following the objects, which they do together. */
  readonly readTransport: Transport;
  /** For telling events, which they do together too. */
  readonly eventTransport: Transport;
  /** For what a node writes about itself and its pods. */
  readonly transportOf: (node: string) => Transport;
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  /** For tests: see `LoopOptions`. */
  readonly onAction?: LoopOptions['onAction'];
}

export interface HollowNodes extends Stoppable {
  /** Resolves once every node is registered and ready. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** Nodes on which nothing runs, all of them in this process: one set of caches, one loop for each task. */
export function runHollowNodes(options: HollowNodesOptions): HollowNodes {
  const { world, hosts, sha256, onAction } = options;
  const informers: Informers = new Informers({ world, client: createClient({ transport: options.readTransport }) });
  const clientOf = clients(options, informers);
  const recorder = new EventRecorder({
    world,
    client: createClient({ transport: options.eventTransport }),
    eventKind,
    component: 'kubelet',
    waitingLimit: eventLimit + eventsOfNode * hosts.size,
  });
  const holdings = new NodeAllocations();
  const view = new NodeCaches({ hosts, informers, allocations: holdings, sha256 });
  const renewals = new LeaseRenewals({ world, clientOf, node: (name) => view.nodes.getKey(name) });
  const vacated = new Trigger<string>();
  const pods = hollowPods({ caches: view, allocations: holdings, sha256, clientOf, recorder, onVacated: (node) => vacated.fire(node) });
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
        allocations: holdings,
        volumesInUse: view.volumesInUse,
        sources: [...nodeSources(view), vacated],
        onRegistered: (node) => renewals.add(node),
        onReady: ready.one,
        onReported: pods.reported,
      }),
      loop,
    ),
    runController(pods.controller, loop),
  ];
  informers.start();
  return { ready: ready.all, stop: () => stopAll([renewals, ...loops, recorder, informers]) };
}

/** What all nodes say when they start at once, and then what many pods say that start at once. */
const eventsOfNode = 6;
const eventLimit = 10_000;

function clients({ transportOf: as }: HollowNodesOptions, informers: Informers): (node: string) => Client {
  const made = new Map<string, Client>();
  return (node) => {
    let client = made.get(node);
    if (client === undefined) made.set(node, (client = createClient({ transport: as(node), observer: informers.observer })));
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
