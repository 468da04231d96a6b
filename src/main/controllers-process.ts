import { createClient } from '../machinery/client.ts';
import type { HttpAccess } from '../machinery/http-transport.ts';
import type { World } from '../world/world.ts';
import { Connections } from './connections.ts';
import { startControllers } from './controllers.ts';
import { type Discovered, discover } from './discovered.ts';
import { firstSignal } from './first-signal.ts';
import { keepOwnKinds } from './own-kinds.ts';
import { realDrivers } from './real-drivers.ts';
import { createRealWorld, type LogLevel } from './real-world.ts';

export interface ControllersProcessOptions {
  readonly access: HttpAccess;
  /** Who this is, among those who would lead. */
  readonly identity: string;
  readonly logLevel: LogLevel;
}

/** Runs the controllers against a server elsewhere until a signal ends it. Resolves with the exit code. */
export async function runControllersProcess({ access, identity, logLevel }: ControllersProcessOptions): Promise<number> {
  const world = createRealWorld({ logLevel });
  const connections = new Connections({ access, world });
  const ended = firstSignal();
  const started = await Promise.race([startWhenReachable(connections, { world, access, identity }), ended]);
  if (typeof started === 'object') {
    process.stdout.write(
      `Controllers are ready: ${access.url}\n\n  identity  ${identity}\n\nOne process leads; this one takes over when it has to. Ctrl-C stops it.\n`,
    );
    await ended;
    await started.stop();
  }
  connections.close();
  return 0;
}

interface Process {
  readonly world: World;
  readonly access: HttpAccess;
  readonly identity: string;
}

interface Running {
  stop(): Promise<void>;
}

const retryMs = 2_000;

/** The server may come later than its controllers. */
async function startWhenReachable(connections: Connections, process: Process): Promise<Running> {
  const { world } = process;
  for (;;) {
    try {
      return await start(connections, process);
    } catch (error) {
      world.log.warn('cannot use the server yet', { url: process.access.url, error: error instanceof Error ? error.message : String(error) });
      await new Promise<void>((resolve) => void world.timers.after(retryMs, resolve));
    }
  }
}

async function start(connections: Connections, { world, access, identity }: Process): Promise<Running> {
  const own = createClient({ transport: connections.own });
  const discovered = await discover(connections.own);
  const together = await own.bindsTogether();
  if (!together.ok) throw together.error;
  const drivers = await realDrivers(own);
  await connections.identify();
  const ownKinds = together.value ? undefined : keepOwnKinds(world);
  const controllers = startControllers({
    connect: ownKinds === undefined ? connections.connect : (name) => ownKinds.over(connections.connect(name)),
    world,
    kinds: discovered.kinds,
    drivers,
    bindsTogether: together.value,
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
