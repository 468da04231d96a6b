import { createClient } from '../machinery/client.ts';
import type { HttpAccess } from '../machinery/http-transport.ts';
import type { World } from '../world/world.ts';
import { controllerNames } from './controller-roles.ts';
import { startControllers } from './controllers.ts';
import { type Discovered, discover } from './discovered.ts';
import { type LedProcessOptions, runLedProcess } from './led-process.ts';
import { keepOwnKinds } from './own-kinds.ts';
import { driversIn, realDrivers } from './real-drivers.ts';

export interface ControllersProcessOptions extends LedProcessOptions {
  /** Of the server on this machine whose volumes are images in it; undefined: there are none. */
  readonly dataDir: string | undefined;
}

/** Runs the controllers against a server elsewhere until a signal ends it. Resolves with the exit code. */
export function runControllersProcess(options: ControllersProcessOptions): Promise<number> {
  const { access, identity, dataDir } = options;
  return runLedProcess(options, {
    ready: 'Controllers are ready',
    start: async (connections, { world, bindsTogether }) => {
      const discovered = await discover(connections.own);
      const drivers = await realDrivers(createClient({ transport: connections.own }), await driversIn(dataDir));
      await connections.identify(controllerNames);
      const ownKinds = bindsTogether ? undefined : keepOwnKinds(world);
      const controllers = startControllers({
        connect: ownKinds === undefined ? connections.connect : (name) => ownKinds.over(connections.connect(name)),
        world,
        kinds: discovered.kinds,
        drivers,
        bindsTogether,
        election: { identity },
        pageSize: 500,
        ...housekeepingFor(discovered, access, world),
      });
      return {
        stop: async () => {
          await controllers.stop();
          await ownKinds?.close();
        },
      };
    },
  });
}

/**
 * Whoever empties namespaces and collects garbage must know every kind there is. A cluster that has others, as every real
 * Kubernetes does, has somebody who does that.
 */
function housekeepingFor({ complete }: Discovered, { ca }: HttpAccess, world: World) {
  if (complete && ca !== undefined) return { housekeeping: { rootCa: ca } };
  const why = complete ? 'the kubeconfig has no certificate authority' : 'the server has kinds that are unknown here';
  world.log.info('namespaces, service accounts, garbage and workloads are left to others', { why });
  return {};
}
