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

/** A real `moor up` in a process of its own, with a data directory of its own. */
export interface MoorProcess {
  readonly kubeconfig: string;
  readonly dataDir: string;
  readonly pid: number;
  /** Runs the real kubectl; never rejects for a failing command. */
  kubectl(...args: string[]): Promise<Result>;
  /** The same with something on its standard input. */
  kubectlWith(input: string, ...args: string[]): Promise<Result>;
  /** The same with this shell command as the editor. */
  kubectlEditing(editor: string, ...args: string[]): Promise<Result>;
  /** Runs a script for bash that uses kubectl. */
  bash(script: string): Promise<Result>;
  /** A kubectl that goes on until it is killed. */
  spawnKubectl(...args: string[]): ChildProcessByStdio<null, Readable, Readable>;
  /** The screen, and what it logged. */
  output(): string;
  /** Ends it with a signal and resolves with its exit code once it is gone. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface MoorOptions {
  /** False: with storage classes and nodes, hollow ones unless `args` say otherwise: they are the same on every machine. */
  readonly bare?: boolean;
  readonly args?: readonly string[];
  /** A directory that survives this process; otherwise a new one is made, and removed at the end. */
  readonly dataDir?: string;
  /** Whose process it is: a uid and gid that may read this folder and owns `dataDir`. */
  readonly user?: number;
}

/** Somebody without rights and without an entry in passwd, if that one can run programs from here and we may be somebody else; else undefined. */
export function stranger(): number | undefined {
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
    { stdio: ['ignore', 'pipe', 'pipe'], ...(options.user === undefined ? {} : { uid: options.user, gid: options.user, cwd: dataDir }) },
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

/** A real `moor controllers` or `moor scheduler` in a process of its own. */
export interface LedProcess {
  /** The screen, and what it logged. */
  output(): string;
  /** Ends it with a signal and resolves with its exit code once it is gone. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
}

type Server = Pick<MoorProcess, 'kubeconfig'>;

export const startControllersProcess = (server: Server, identity: string): Promise<LedProcess> =>
  startLedProcess('controllers', server, { identity, sign: 'Controllers are ready' });

export const startSchedulerProcess = (server: Server, identity: string): Promise<LedProcess> =>
  startLedProcess('scheduler', server, { identity, sign: 'The scheduler is ready' });

/** Who holds a lease of the control plane; '': nobody. */
export const leaseHolder = async (moor: MoorProcess, lease: string): Promise<string> =>
  (await moor.kubectl('get', 'lease', '-n', 'kube-system', lease, '-o', 'jsonpath={.spec.holderIdentity}')).stdout.split('_')[0] ?? '';

/** Lets a lease whose holder is dead run out in a second: nobody has to wait for the rest of it. */
export async function hastenLease(moor: MoorProcess, lease: string): Promise<void> {
  await moor.kubectl('patch', 'lease', '-n', 'kube-system', lease, '--type=merge', '-p', '{"spec":{"leaseDurationSeconds":1}}');
}

/** A real `moor node`. */
export const startNodeProcess = (server: Server, { name, dataDir, sign = `Node ${name} is ready` }: NodeProcess): Promise<LedProcess> =>
  startOther(['node', '--kubeconfig', server.kubeconfig, '--name', name, '--data-dir', dataDir, '--listen', '127.0.0.1:0'], sign);

interface NodeProcess {
  readonly name: string;
  readonly dataDir: string;
  /** What it says once it is as far as wanted. */
  readonly sign?: string;
}

const startLedProcess = (command: string, { kubeconfig }: Server, { identity, sign }: { readonly identity: string; readonly sign: string }) =>
  startOther([command, '--kubeconfig', kubeconfig, '--identity', identity], sign);

async function startOther(args: readonly string[], sign: string): Promise<LedProcess> {
  const child = spawn(process.execPath, [moorScript, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await ready(child, output, sign);
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

function ready(child: ChildProcess, output: () => string, sign = 'Mooring is ready'): Promise<void> {
  return new Promise((resolve, reject) => {
    const isReady = () => output().includes(sign) && resolve();
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
