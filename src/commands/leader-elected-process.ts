import { createClient } from '../client/client.ts';
import type { HttpAccess } from '../client/http-transport.ts';
import type { World } from '../world/world.ts';
import { ControllerConnections } from '../cluster/access/connections.ts';
import { firstSignal } from '../host/first-signal.ts';
import { createRealWorld, type LogLevel } from '../host/world.ts';

/** A process that works for a server elsewhere, of which there may be several: one leads, the others stand by. */
export interface LeaderElectedProcessOptions {
  readonly access: HttpAccess;
  /** Who this is, among those who would lead. */
  readonly identity: string;
  readonly logLevel: LogLevel;
}

export interface RunningWork {
  stop(): Promise<void>;
}

export interface LeaderElectedWork {
  /** 'Controllers are ready' */
  readonly ready: string;
  /** @throws if the server cannot be used yet: it is tried again */
  readonly start: (connections: ControllerConnections, process: { readonly world: World; readonly bindsTogether: boolean }) => Promise<RunningWork>;
}

/** Works until a signal ends it. Resolves with the exit code. */
export async function runLeaderElectedProcess({ access, identity, logLevel }: LeaderElectedProcessOptions, work: LeaderElectedWork): Promise<number> {
  const world = createRealWorld({ logLevel });
  const connections = new ControllerConnections({ access, world });
  const ended = firstSignal();
  const started = await Promise.race([startWhenReachable(work, { connections, world, url: access.url }), ended]);
  if (typeof started === 'object') {
    process.stdout.write(
      `${work.ready}: ${access.url}\n\n  identity  ${identity}\n\nOne process leads; this one takes over when it has to. Ctrl-C stops it.\n`,
    );
    await ended;
    await started.stop();
  }
  connections.close();
  return 0;
}

const retryMs = 2_000;

/** The server may come later than those who work for it. */
async function startWhenReachable(
  { start }: LeaderElectedWork,
  server: { readonly connections: ControllerConnections; readonly world: World; readonly url: string },
): Promise<RunningWork> {
  const { connections, world, url } = server;
  for (;;) {
    try {
      const together = await createClient({ transport: connections.own }).bindsTogether();
      if (!together.ok) throw together.error;
      return await start(connections, { world, bindsTogether: together.value });
    } catch (error) {
      world.log.warn('cannot use the server yet', { url, error: error instanceof Error ? error.message : String(error) });
      await new Promise<void>((resolve) => void world.timers.after(retryMs, resolve));
    }
  }
}
