import { type ChildProcess, type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The project's folder. */
export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const moorScript = path.join(root, 'dist/main/moor.js');
/** kubectl as scripts/setup found or installed it. */
const toolsPath = `${path.join(root, '.tools/bin')}:${process.env['PATH'] ?? ''}`;

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real `moor up` in its own process, with its own data directory. */
export interface MoorProcess {
  readonly kubeconfig: string;
  readonly dataDir: string;
  readonly pid: number;
  /** Runs the real kubectl; never rejects for a failing command. */
  kubectl(...args: string[]): Promise<Result>;
  /** The same with standard input. */
  kubectlWith(input: string, ...args: string[]): Promise<Result>;
  /** The same with this shell command as the editor. */
  kubectlEditing(editor: string, ...args: string[]): Promise<Result>;
  /** Runs a bash script that uses kubectl. */
  bash(script: string): Promise<Result>;
  /** A kubectl that runs until it is killed. */
  spawnKubectl(...args: string[]): ChildProcessByStdio<null, Readable, Readable>;
  /** Its standard output and log. */
  output(): string;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface MoorOptions {
  /** False: with StorageClasses and nodes, which are hollow unless `args` give a runtime: so they are the same on every machine. */
  readonly bare?: boolean;
  readonly args?: readonly string[];
  /** A directory that survives this process; absent: a temporary one, removed at the end. */
  readonly dataDir?: string;
  /** The uid and gid of the process, which may read this folder and owns `dataDir`. */
  readonly user?: number;
}

/** A uid without privileges and without an entry in passwd; undefined if this process cannot start programs under it. */
export function unprivilegedUser(): number | undefined {
  const user = 54_321;
  const end = spawnSync(process.execPath, ['--check', moorScript], { uid: user, gid: user });
  return end.status === 0 ? user : undefined;
}

export async function startMoor(options: MoorOptions = {}): Promise<MoorProcess> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'mooring-test-'));
  const kubeconfig = path.join(dataDir, 'test.kubeconfig');
  const child = spawn(
    process.execPath,
    [
      moorScript,
      'up',
      ...((options.bare ?? true) ? ['--bare'] : options.user !== undefined || options.args?.includes('--runtime') ? [] : ['--runtime', 'hollow']),
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      dataDir,
      '--kubeconfig',
      kubeconfig,
      ...(options.args ?? []),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, XDG_STATE_HOME: dataDir },
      ...(options.user === undefined ? {} : { uid: options.user, gid: options.user, cwd: dataDir }),
    },
  );
  const output = collect(child);
  const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await ready(child, output);
  const env = { ...process.env, PATH: toolsPath, KUBECONFIG: kubeconfig, HOME: dataDir };
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return gone;
  };
  return {
    kubeconfig,
    dataDir,
    pid: child.pid ?? 0,
    kubectl: (...args) => run('kubectl', args, env),
    kubectlWith: (input, ...args) => run('kubectl', args, env, input),
    kubectlEditing: (editor, ...args) => run('kubectl', args, { ...env, KUBE_EDITOR: editor }),
    bash: (script) => run('bash', [script], env),
    spawnKubectl: (...args) => spawn('kubectl', args, { env, stdio: ['ignore', 'pipe', 'pipe'] }),
    output,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A real `moor controllers`, `moor scheduler` or `moor node` in its own process. */
export interface CommandProcess {
  /** Its standard output and log. */
  output(): string;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
}

type Server = Pick<MoorProcess, 'kubeconfig'>;

/** `dataDir`: of the `moor up` beside it, for its image volumes and its certificate authority. */
export const startControllersProcess = (server: Server, identity: string, dataDir?: string): Promise<CommandProcess> =>
  startCommandProcess('controllers', server, { identity, readyText: 'Controllers are ready', args: dataDir === undefined ? [] : ['--data-dir', dataDir] });

export const startSchedulerProcess = (server: Server, identity: string): Promise<CommandProcess> =>
  startCommandProcess('scheduler', server, { identity, readyText: 'The scheduler is ready' });

/** The holder of a Lease of the control plane; '': none. */
export const leaseHolder = async (moor: MoorProcess, lease: string): Promise<string> =>
  (await moor.kubectl('get', 'lease', '-n', 'kube-system', lease, '-o', 'jsonpath={.spec.holderIdentity}')).stdout.split('_')[0] ?? '';

/** Lets a Lease whose holder is dead expire in a second. */
export async function hastenLease(moor: MoorProcess, lease: string): Promise<void> {
  await moor.kubectl('patch', 'lease', '-n', 'kube-system', lease, '--type=merge', '-p', '{"spec":{"leaseDurationSeconds":1}}');
}

/** A real `moor node`. */
export const startNodeProcess = (server: Server, { name, dataDir, readyText = `Node ${name} is ready` }: NodeProcess): Promise<CommandProcess> =>
  startCommand(['node', '--kubeconfig', server.kubeconfig, '--name', name, '--data-dir', dataDir, '--listen', '127.0.0.1:0'], readyText);

/** A real `moor server`, and a kubeconfig for it. */
export interface ServerProcess extends CommandProcess, Server {
  readonly url: string;
}

/** `args`: of its store. */
export async function startServerProcess(kubeconfig: string, args: readonly string[]): Promise<ServerProcess> {
  const started = await startCommand(['server', '--listen', '127.0.0.1:0', '--kubeconfig', kubeconfig, ...args], 'is ready');
  const [url = ''] = /https:\/\/[\w.:]+/.exec(started.output()) ?? [];
  return { ...started, kubeconfig, url };
}

/** Runs the real kubectl on a server; never rejects for a failing command. */
export const kubectlOn = ({ kubeconfig }: Server, ...args: string[]): Promise<Result> =>
  run('kubectl', args, { ...process.env, PATH: toolsPath, KUBECONFIG: kubeconfig });

/** A real `moor csi serve`. */
export const startDriverProcess = (driver: string, { socket, dataDir }: { readonly socket: string; readonly dataDir: string }): Promise<CommandProcess> =>
  startCommand(['csi', 'serve', driver, '--endpoint', `unix://${socket}`, '--data-dir', dataDir, '--node-id', 'node-1'], 'serves unix://');

interface NodeProcess {
  readonly name: string;
  readonly dataDir: string;
  /** The output to wait for. */
  readonly readyText?: string;
}

interface LeaderElected {
  readonly identity: string;
  readonly readyText: string;
  readonly args?: readonly string[];
}

const startCommandProcess = (command: string, { kubeconfig }: Server, { identity, readyText, args = [] }: LeaderElected) =>
  startCommand([command, '--kubeconfig', kubeconfig, '--identity', identity, ...args], readyText);

async function startCommand(args: readonly string[], readyText: string): Promise<CommandProcess> {
  const child = spawn(process.execPath, [moorScript, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await ready(child, output, readyText);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return gone;
  };
  return { output, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

/** Runs `moor ARGS…` to its end. */
export function runMoor(...args: string[]): Promise<Result> {
  return run(process.execPath, [moorScript, ...args], { ...process.env });
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return () => text;
}

function ready(child: ChildProcess, output: () => string, readyText = 'Mooring is ready'): Promise<void> {
  return new Promise((resolve, reject) => {
    const isReady = () => output().includes(readyText) && resolve();
    child.stdout?.on('data', isReady);
    child.stderr?.on('data', isReady);
    child.once('exit', (code) => reject(new Error(`moor ended with ${code} before it was ready:\n${output()}`)));
  });
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv, input?: string): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(command, [...args], { env, maxBuffer: 64 << 20, timeout: 240_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.end(input ?? '');
  });
}
