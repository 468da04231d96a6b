import { eventKind } from '../../src/api/kinds/core/event.ts';
import { type Client, createClient, type Result } from '../../src/client/client.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { type Controller, type LoopOptions, runController } from '../../src/client/controller/loop.ts';
import { EventRecorder } from '../../src/client/events/event-recorder.ts';
import type { Transport } from '../../src/client/transport.ts';
import { simulate, type SimulatedWorld } from '../../src/sim/world/world.ts';
import type { World } from '../../src/world/world.ts';
import type { TestCluster } from './test-cluster.ts';

/** What a controller under test is made with. */
export interface Parts {
  readonly client: Client;
  readonly informers: Informers;
  readonly recorder: (component: string) => EventRecorder;
  readonly world: World;
}

export type AnyController = Controller<string, never, never>;

/** Controllers of one process, on caches of their own. `onAction`: where the process may die. */
export function startLoops(
  { transport, world, onAction }: { readonly transport: Transport; readonly world: World; readonly onAction?: NonNullable<LoopOptions['onAction']> },
  make: (parts: Parts) => readonly AnyController[],
): void {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const recorder = (component: string) => new EventRecorder({ world, client, eventKind, component });
  for (const controller of make({ client, informers, recorder, world })) {
    runController(controller, { world, informers, ...(onAction === undefined ? {} : { onAction }) });
  }
  informers.start();
}

type TestBody = (cluster: TestCluster, world: SimulatedWorld) => Promise<void>;

/** A test in simulated time, in a cluster that `start` makes and in which `run` runs controllers. */
export const inClusterOf =
  (start: (world: SimulatedWorld) => Promise<TestCluster>, run: (transport: Transport, world: SimulatedWorld) => unknown) => (body: TestBody) => () =>
    simulate(1, async (world) => {
      const cluster = await start(world);
      run(cluster.transport, world);
      await world.sleep(1);
      await body(cluster, world);
    });

/** The same with the controllers of one process. */
export const inClusterWith = (start: (world: SimulatedWorld) => Promise<TestCluster>, make: (parts: Parts) => readonly AnyController[]) =>
  inClusterOf(start, (transport, world) => startLoops({ transport, world }, make));

/** A controller in a list of several kinds. `startLoops` passes it only its own snapshots and actions. */
export const anyController = <Key extends string, Snapshot, Action>(controller: Controller<Key, Snapshot, Action>): AnyController =>
  controller as unknown as AnyController;

export const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};

/** 'taint-eviction-controller Pod/web TaintManagerEviction: Marking … x1', sorted. */
export async function events(client: Client): Promise<string[]> {
  const { items } = ok(await client.list(eventKind));
  return items
    .map(
      ({ source, involvedObject, reason, message, count }) =>
        `${source.component ?? ''} ${involvedObject.kind ?? ''}/${involvedObject.name ?? ''} ${reason ?? ''}: ${message ?? ''} x${count ?? 0}`,
    )
    .sort();
}
