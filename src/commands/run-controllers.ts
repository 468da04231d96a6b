import { createClient } from '../client/client.ts';
import type { HttpAccess } from '../client/http-transport.ts';
import type { World } from '../world/world.ts';
import { controllerNames } from '../cluster/access/controller-roles.ts';
import { startControllers } from '../cluster/controllers/controllers.ts';
import { type ServedKinds, discoverServedKinds } from '../cluster/controllers/served-kinds.ts';
import { type LeaderElectedProcessOptions, runLeaderElectedProcess } from './leader-elected-process.ts';
import { keepLocalIntents } from '../cluster/controllers/local-intents.ts';
import { imageDriversIn, machineDrivers } from '../cluster/nodes/machine-drivers.ts';

export interface ControllersProcessOptions extends LeaderElectedProcessOptions {
  /** Of the server on this machine whose volumes are images in it; undefined: there are none. */
  readonly dataDir: string | undefined;
}

/** Runs the controllers against a server elsewhere until a signal ends it. Resolves with the exit code. */
export function runControllersProcess(options: ControllersProcessOptions): Promise<number> {
  const { access, identity, dataDir } = options;
  return runLeaderElectedProcess(options, {
    ready: 'Controllers are ready',
    start: async (connections, { world, bindsTogether }) => {
      const discovered = await discoverServedKinds(connections.own);
      const drivers = await machineDrivers(createClient({ transport: connections.own }), await imageDriversIn(dataDir));
      await connections.identify(controllerNames);
      const ownKinds = bindsTogether ? undefined : keepLocalIntents(world);
      const controllers = startControllers({
        connect: ownKinds === undefined ? connections.connect : (name) => ownKinds.wrap(connections.connect(name)),
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
function housekeepingFor({ complete }: ServedKinds, { ca }: HttpAccess, world: World) {
  if (complete && ca !== undefined) return { housekeeping: { rootCa: ca } };
  const why = complete ? 'the kubeconfig has no certificate authority' : 'the server has kinds that are unknown here';
  world.log.info('namespaces, service accounts, garbage and workloads are left to others', { why });
  return {};
}
