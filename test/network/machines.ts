/** Machines in network namespaces of this one, connected by a cable: each has its own links, routes and tables, and its own /run/moor. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Result, root } from '../moor-process.ts';

const env = { ...process.env, PATH: `${path.join(root, '.tools/bin')}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };

export interface Machine {
  readonly address: string;
  readonly directory: string;
  /** Runs a program to its end; never rejects for one that fails. */
  run(...command: string[]): Promise<Result>;
  runWith(input: string, ...command: string[]): Promise<Result>;
  /** Starts `moor ARGS…` and waits for its text. Resolves with a function that ends it. */
  moor(args: readonly string[], readyText: string): Promise<() => Promise<void>>;
}

export interface Machines {
  readonly all: readonly Machine[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Two of them, 192.168.77.1 and 192.168.77.2. */
export async function startMachines(): Promise<Machines> {
  const directory = mkdtempSync(path.join(tmpdir(), 'moor-machines-'));
  const holders = await Promise.all([0, 1].map(holdNamespaces));
  const [a = 0, b = 0] = holders.map(({ pid = 0 }) => pid);
  execFileSync('ip', ['link', 'add', 'eth0', 'netns', String(a), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(b)], { env });
  const all = holders.map((holder, index) => machineIn(holder, { address: `192.168.77.${index + 1}`, directory: path.join(directory, String(index)) }));
  for (const machine of all) {
    const script = `mkdir -p /run/moor && mount -t tmpfs tmpfs /run/moor && ip link set lo up && ip addr add ${machine.address}/24 dev eth0 && ip link set eth0 up`;
    const { code, stderr } = await machine.run('sh', '-c', script);
    if (code !== 0) throw new Error(stderr);
  }
  return {
    all,
    [Symbol.asyncDispose]: async () => {
      for (const holder of holders) holder.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A process whose namespaces the machine's programs enter. It says when it has them. */
function holdNamespaces(): Promise<ChildProcess> {
  const holder = spawn('unshare', ['--net', '--mount', 'sh', '-c', 'echo here; exec sleep infinity'], { stdio: ['ignore', 'pipe', 'inherit'], env });
  return new Promise((resolve, reject) => {
    holder.once('error', reject);
    holder.stdout?.once('data', () => resolve(holder));
  });
}

function machineIn(holder: ChildProcess, { address, directory }: Pick<Machine, 'address' | 'directory'>): Machine {
  const entering = ['-t', String(holder.pid), '-n', '-m'];
  const own = { ...env, XDG_STATE_HOME: directory, HOME: directory };
  const runWith = (input: string, ...command: string[]): Promise<Result> =>
    new Promise((resolve) => {
      const child = execFile('nsenter', [...entering, ...command], { env: own, timeout: 120_000, maxBuffer: 16 << 20 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr }),
      );
      // A program that reads nothing may have ended already.
      child.stdin?.on('error', () => undefined).end(input);
    });
  return {
    address,
    directory,
    runWith,
    run: (...command) => runWith('', ...command),
    moor: (args, readyText) =>
      new Promise((resolve, reject) => {
        const child = spawn('nsenter', [...entering, process.execPath, path.join(root, 'dist/main/moor.js'), ...args], {
          env: own,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        const gone = new Promise<void>((ended) => child.once('exit', () => ended()));
        let output = '';
        const read = (chunk: Buffer): void => {
          output += chunk.toString();
          if (!output.includes(readyText)) return;
          resolve(() => {
            child.kill('SIGTERM');
            return gone;
          });
        };
        child.stdout.on('data', read);
        child.stderr.on('data', read);
        child.once('exit', (code) => reject(new Error(`moor ended with ${code} before it was ready:\n${output}`)));
      }),
  };
}
