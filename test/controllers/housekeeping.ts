import { allKinds } from '../../src/api/kinds/index.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { namespaceKind } from '../../src/api/kinds/core/namespace.ts';
import { serviceAccountKind } from '../../src/api/kinds/core/service-account.ts';
import { createClient } from '../../src/client/client.ts';
import { DefinedKinds } from '../../src/client/controller/defined-kinds.ts';
import { Informers } from '../../src/client/informers/informers.ts';
import { type ControllerLoop, type LoopOptions, runController } from '../../src/client/controller/loop.ts';
import { EventRecorder } from '../../src/client/events/event-recorder.ts';
import type { Transport } from '../../src/client/transport.ts';
import { SimulatedProcess } from '../../src/sim/world/process.ts';
import type { SimulatedWorld } from '../../src/sim/world/world.ts';
import { garbageCollector } from '../../src/controllers/cluster/garbage-collector/controller.ts';
import { namespaceController } from '../../src/controllers/cluster/namespace/controller.ts';
import { serviceAccountController } from '../../src/controllers/cluster/service-account/controller.ts';
import type { World } from '../../src/world/world.ts';

export const rootCa = '-----BEGIN CERTIFICATE-----\n';

/** The controllers of every cluster, in one process. */
export function startHousekeeping(transport: Transport, world: World, onAction?: LoopOptions['onAction']): readonly ControllerLoop[] {
  const informers: Informers = new Informers({ client: createClient({ transport }), world });
  const client = createClient({ transport, observer: informers.observer });
  const recorder = new EventRecorder({ world, client, eventKind, component: 'garbage-collector-controller' });
  const options: LoopOptions = { world, informers, ...(onAction === undefined ? {} : { onAction }) };
  const { clock } = world;
  const definedKinds = new DefinedKinds(informers);
  const loops = [
    runController(garbageCollector({ clock, client, kinds: allKinds, definedKinds, recorder }), options),
    runController(namespaceController({ clock, client, informers, namespaceKind, kinds: allKinds, definedKinds }), options),
    runController(
      serviceAccountController({
        client,
        informers,
        kinds: { namespace: namespaceKind, serviceAccount: serviceAccountKind, configMap: configMapKind },
        rootCa,
      }),
      options,
    ),
  ];
  informers.start();
  return loops;
}

/** Runs them in a process that dies before one of its first actions, and in another after it, and so on: `crashes` times. */
export async function crashRepeatedly(transport: Transport, world: SimulatedWorld, crashes: number): Promise<void> {
  for (let i = 0; i < crashes; i++) {
    const process = new SimulatedProcess(world, `housekeeping ${i}`);
    let left = world.random.below(6);
    startHousekeeping(process.transport(transport), process, () => {
      if (left-- > 0) return 'go';
      process.kill();
      return 'crash';
    });
    await world.sleep(500 + world.random.float() * 2000);
    process.kill();
  }
}
