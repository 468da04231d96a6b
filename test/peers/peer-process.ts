import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';

/** Peer → program, as scripts/peers.mjs found or built them. */
const programs = JSON.parse(process.env['MOOR_PEERS'] ?? '{}') as Readonly<Record<string, string>>;

/** A folder that keeps what peers write, each in its file. */
const logs = process.env['PEER_LOGS'];

function programOf(peer: string): string {
  const program = programs[peer];
  if (program === undefined) throw new Error(`${peer} is not there: run this by "npm run test:peers -- FILE", and name ${peer} in the file's line "// Peers:"`);
  return program;
}

/** A peer that runs. */
export interface PeerProcess {
  readonly pid: number;
  /** Its standard output and log. */
  output(): string;
  readonly ended: Promise<void>;
  /** Sends the signal and resolves when the process has ended. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export function startPeer(peer: string, ...args: string[]): PeerProcess {
  const child = spawn(programOf(peer), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const add = (chunk: Buffer) => {
    text += chunk.toString();
    if (logs !== undefined) appendFileSync(path.join(logs, `${peer}.log`), chunk);
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return { pid: child.pid ?? 0, output: () => text, ended, stop, [Symbol.asyncDispose]: () => stop('SIGKILL') };
}

/** A peer that is started again whenever it ends, as by its kubelet: sidecars end themselves when they lose their driver. */
export interface KeptPeer {
  /** `kill -9`; the next one starts. */
  kill(): Promise<void>;
  /** The output of the process that runs now, or ran last. */
  output(): string;
  [Symbol.asyncDispose](): Promise<void>;
}

export function keepPeer(peer: string, ...args: string[]): KeptPeer {
  let wanted = true;
  let current: PeerProcess;
  let watched: Promise<void>;
  const start = (): void => {
    current = startPeer(peer, ...args);
    watched = current.ended.then(() => (wanted ? start() : undefined));
  };
  start();
  return {
    kill: () => current.stop('SIGKILL'),
    output: () => current.output(),
    [Symbol.asyncDispose]: async () => {
      wanted = false;
      await current.stop('SIGKILL');
      await watched;
    },
  };
}

/** Runs a peer to its end. */
export function runPeer(peer: string, ...args: string[]): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(programOf(peer), args, { encoding: 'utf8', maxBuffer: 64 << 20 });
  return { code: status, output: stdout + stderr };
}

/** Processes and folders that end with the tests of a file, the newest first, and all of them, even if one is not as it should be. */
export class Running {
  readonly #resources: AsyncDisposable[] = [];

  use<Resource extends AsyncDisposable>(resource: Resource): Resource {
    this.#resources.unshift(resource);
    return resource;
  }

  async end(): Promise<void> {
    const failures: unknown[] = [];
    for (const resource of this.#resources) {
      try {
        await resource[Symbol.asyncDispose]();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(String).join('\n'));
  }
}
