import { hostname } from 'node:os';
import { createClient } from '../client/client.ts';
import type { HttpAccess } from '../client/http-transport.ts';
import { ControllerConnections } from '../cluster/access/connections.ts';
import { firstSignal } from '../host/first-signal.ts';
import { createRealWorld, type LogLevel } from '../host/world.ts';
import type { World } from '../world/world.ts';
import { accessFlags, accessToServers, serversFlag } from './cluster-access.ts';
import type { Flag, FlagValues } from './command.ts';
import { logLevelFlag, logLevelOf } from './shared-flags.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';
import { withProgress } from './result/progress.ts';

/** The flags of a command that runs part of the control plane in its own process. */
export const leaderElectionFlags: readonly Flag[] = [
  ...accessFlags,
  serversFlag,
  { name: 'identity', value: 'NAME', about: 'the holder identity of this process in the leader election', default: "the machine's name" },
  logLevelFlag,
];

export interface LeaderElectedProcessOptions {
  readonly access: HttpAccess;
  /** The holder identity in the leader election. */
  readonly identity: string;
  readonly logLevel: LogLevel;
}

export function leaderElectionOptions(flags: FlagValues): LeaderElectedProcessOptions {
  return {
    access: accessToServers(flags),
    identity: flags.text('identity') ?? hostname(),
    logLevel: logLevelOf(flags),
  };
}

export interface RunningWork {
  stop(): Promise<void>;
}

export interface LeaderElectedWork {
  /** 'Controllers are ready' */
  readonly ready: string;
  /** @throws if the server cannot be used yet: the start is retried */
  readonly start: (connections: ControllerConnections, process: { readonly world: World; readonly bindsTogether: boolean }) => Promise<RunningWork>;
}

/** Works for an API server elsewhere until a signal ends it: of several such processes one leads, the others stand by. Resolves with the exit code. */
export async function runLeaderElectedProcess({ access, identity, logLevel }: LeaderElectedProcessOptions, work: LeaderElectedWork): Promise<ExitCode> {
  const world = createRealWorld({ logLevel });
  const connections = new ControllerConnections({ access, world });
  const ended = firstSignal();
  const started = await withProgress(`Waiting for the API server at ${access.url}`, () =>
    Promise.race([startWhenReachable(work, { connections, world, url: access.url }), ended]),
  );
  if (typeof started === 'object') {
    process.stdout.write(
      `${work.ready}: ${access.url}\n\n  identity  ${identity}\n\nOne process leads; this one takes over if the leader ends. Ctrl-C stops this process.\n`,
    );
    await ended;
    await withProgress('Waiting for actions that have begun', () => started.stop());
  }
  connections.close();
  return exitCodes.success;
}

const retryMs = 2_000;

/** The API server may start later than this process. */
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
      world.log.warn('cannot use the API server yet', { url, error: error instanceof Error ? error.message : String(error) });
      await new Promise<void>((resolve) => void world.timers.after(retryMs, resolve));
    }
  }
}
