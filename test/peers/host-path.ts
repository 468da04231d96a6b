/** The real csi-driver-host-path as a process. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { type PeerProcess, startPeer } from './peer-process.ts';

export const hostPathName = 'hostpath.csi.k8s.io';

export interface HostPathDriver {
  readonly directory: string;
  readonly socket: string;
  /** The ids of the volumes that have a folder or file in the driver's data. */
  volumes(): readonly string[];
  /** The ids of the snapshots that have a file in the driver's data. */
  snapshots(): readonly string[];
  /** The names of the volumes and snapshots that the driver knows. A file of which it does not know was left by its own crash: no call deletes that. */
  known(): readonly string[];
  /** `kill -9`, and a new process on the same data. */
  restart(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const isId = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** What the driver keeps in state.json. */
interface DriverState {
  readonly Volumes?: readonly { readonly VolName: string }[] | null;
  readonly Snapshots?: readonly { readonly Name: string }[] | null;
}

export interface HostPathOptions {
  readonly nodeId: string;
  readonly args?: readonly string[];
  /** Another build of the driver. */
  readonly peer?: string;
}

/** A driver with its socket and data in a directory of its own, which is removed at the end: a mount that is left over is an error. */
export async function startHostPath({ nodeId, args = [], peer = 'hostpathplugin' }: HostPathOptions): Promise<HostPathDriver> {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-peer-')));
  const [socket, data] = [path.join(directory, 'csi.sock'), path.join(directory, 'data')];
  mkdirSync(data);
  const start = async (): Promise<PeerProcess> => {
    rmSync(socket, { force: true });
    const started = startPeer(peer, '--endpoint', `unix://${socket}`, '--statedir', data, '--nodeid', nodeId, ...args);
    try {
      await vi.waitUntil(() => existsSync(socket), { timeout: 60_000 });
    } catch {
      await started.stop('SIGKILL');
      throw new Error(`csi-driver-host-path has no socket:\n${started.output()}`);
    }
    return started;
  };
  let running = await start();
  return {
    directory,
    socket,
    volumes: () => readdirSync(data).filter((name) => isId.test(name)),
    snapshots: () => readdirSync(data).flatMap((name) => (name.endsWith('.snap') ? [name.slice(0, -'.snap'.length)] : [])),
    known: () => {
      const { Volumes, Snapshots } = JSON.parse(readFileSync(path.join(data, 'state.json'), 'utf8')) as DriverState;
      return [...(Volumes ?? []).map(({ VolName }) => VolName), ...(Snapshots ?? []).map(({ Name }) => Name)];
    },
    restart: async () => {
      await killWhole(running, path.join(data, 'state.json'));
      running = await start();
    },
    [Symbol.asyncDispose]: async () => {
      await running.stop('SIGKILL');
      const mounted = readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .filter((line) => line.includes(directory));
      expect(mounted).toEqual([]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** `kill -9` while the state file is whole. The driver writes it in place: a kill in the middle would tear it, and the driver not start again. */
async function killWhole({ pid, stop }: PeerProcess, stateFile: string): Promise<void> {
  const isStopped = () => /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  await vi.waitUntil(
    async () => {
      process.kill(pid, 'SIGSTOP');
      await vi.waitUntil(isStopped, { timeout: 60_000, interval: 1 });
      if (isWhole(stateFile)) return true;
      process.kill(pid, 'SIGCONT');
      return false;
    },
    { timeout: 60_000, interval: 5 },
  );
  await stop('SIGKILL');
}

function isWhole(stateFile: string): boolean {
  if (!existsSync(stateFile)) return true;
  try {
    JSON.parse(readFileSync(stateFile, 'utf8'));
    return true;
  } catch {
    return false;
  }
}
