/**
 * Real servers for tests, each in its own network, mount and PID namespaces: they need no port, directory or address of this machine, and leave
 * nothing behind. A server ends with the process that started it, even if that is killed: its standard input closes.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test, vi } from 'vitest';
import { realPrograms } from '../../src/host/programs.ts';
import { canSandbox } from '../../src/node/runtimes/sandbox/detect.ts';

export interface Server {
  /** Its address, reachable from this machine. */
  readonly address: string;
  /** Runs a program in its namespaces. */
  inside(...command: readonly string[]): Promise<{ readonly ok: boolean; readonly output: string }>;
  stop(): Promise<void>;
}

/** `script` starts the server in the background. /run and the mounts are private. */
export async function startServer(script: string): Promise<Server> {
  const frame = [forgetOthers, 'read -r go', 'mount -t tmpfs tmpfs /run', 'ip link set lo up', script, 'cat >/dev/null'].join('\n');
  const child = spawn('unshare', ['-n', '-m', '-p', '--fork', '--mount-proc', '--kill-child', 'sh', '-ec', frame], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: withSbin,
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-10_000);
  });
  const first = await firstIn(child);
  const { link, address, gateway } = unusedAddresses();
  const ip = (...args: readonly string[]) => execFileSync('ip', args, { stdio: 'pipe', env: withSbin });
  const ipInside = (...args: readonly string[]) => execFileSync('nsenter', ['-t', first, '-n', 'ip', ...args], { stdio: 'pipe', env: withSbin });
  ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', first);
  ip('addr', 'add', `${gateway}/30`, 'dev', link);
  ip('link', 'set', link, 'up');
  ipInside('addr', 'add', `${address}/30`, 'dev', 'eth0');
  ipInside('link', 'set', 'eth0', 'up');
  child.stdin?.write('go\n');
  return {
    address,
    async inside(...command) {
      if (child.exitCode !== null) throw new Error(`the server has ended: ${said}`);
      const end = await realPrograms.run('nsenter', ['-t', first, '-n', '-m', '-p', ...command], { timeoutMs: 60_000 });
      return { ok: end.type === 'exited' && end.code === 0, output: end.type === 'exited' ? end.output : end.type };
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        if (child.exitCode !== null || child.signalCode !== null) resolve();
        else child.stdin?.end();
      }),
  };
}

/** Unmounts the copies of other tests' mounts: otherwise their devices would stay in use while this server runs. */
const forgetOthers = `
  while read -r _ _ _ _ target _; do
    case $target in ${JSON.stringify(tmpdir())}/*) echo "$target";; esac
  done </proc/self/mountinfo | sort -r | while read -r target; do umount -l "$target" || true; done`;

const withSbin = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };

/** A timeout for hanging commands. */
const longestMs = 60_000;

/** An unused link name and two unused addresses. */
function unusedAddresses(): { readonly link: string; readonly address: string; readonly gateway: string } {
  const [a = 0, b = 0] = randomBytes(2);
  const network = `10.254.${a}`;
  const first = b & ~3;
  return { link: `srv${randomBytes(4).toString('hex')}`, gateway: `${network}.${first + 1}`, address: `${network}.${first + 2}` };
}

/** The first process of the PID namespace. */
async function firstIn({ pid = 0 }: ChildProcess): Promise<string> {
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return vi.waitUntil(children, { timeout: longestMs, interval: 10 });
}

/** Polls until the condition holds. */
export async function until(isSo: () => Promise<{ readonly ok: boolean; readonly output: string }>): Promise<void> {
  let last = '';
  const asked = async () => {
    const { ok, output } = await isSo();
    last = output;
    return ok;
  };
  await vi.waitUntil(asked, { timeout: longestMs, interval: 50 }).catch((error: unknown) => {
    throw new Error(`it is still not so: ${last}`, { cause: error });
  });
}

export interface Needs {
  readonly programs: readonly string[];
  /** Required files, and the programs that they belong to. */
  readonly files?: readonly string[];
  /** The Debian packages. */
  readonly packages: string;
}

/** Tests with servers that `scripts/setup` installs. Without them, only `otherwise` runs. */
export function describeWithServer(
  name: string,
  needs: Needs,
  { tests, otherwise }: { readonly tests: () => void; readonly otherwise: () => Promise<void> },
): void {
  const ability = canSandbox();
  const missing = [...needs.programs.filter((program) => !isOnPath(program)), ...(needs.files ?? []).filter((file) => !isThere(file))];
  const why = ability.can ? (missing.length === 0 ? undefined : `${missing.join(', ')} missing (Debian: ${needs.packages})`) : ability.why;
  if (why === undefined) describe(name, tests);
  else test(`${name}, only failures, since this machine cannot run it: ${why}`, otherwise);
}

const isOnPath = (program: string): boolean => (withSbin.PATH ?? '').split(':').some((directory) => isThere(path.join(directory, program)));

function isThere(file: string): boolean {
  try {
    accessSync(file, constants.F_OK);
    return true;
  } catch {
    return false;
  }
}
