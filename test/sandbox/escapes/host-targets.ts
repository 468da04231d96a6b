/** What attempts to escape look for on the host, and what shows that they changed nothing there. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { arch, hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { architecturesOf } from '../../../src/node/seccomp/architectures.ts';
import type { Targets } from './attempt.ts';

type PlantedTargets = Omit<Targets, 'volumeFile' | 'dataDir' | 'kubeconfig' | 'otherPod' | 'otherProcess' | 'shim'>;

export interface PlantedHost {
  /** In every secret. */
  readonly canary: string;
  readonly targets: PlantedTargets;
  /** Of this machine's system calls. */
  readonly numbers: ReadonlyMap<string, number>;
  /** A digest of what no container may change; by name. */
  evidence(): Readonly<Record<string, string>>;
  dispose(): void;
}

export async function plantTargets(): Promise<PlantedHost> {
  const name = `moor-canary-${randomBytes(6).toString('hex')}`;
  const canary = `CANARY-${randomBytes(12).toString('hex')}`;
  const directory = mkdtempSync(path.join(tmpdir(), `${name}-`));
  // Not the data directory: a home directory.
  const home = path.join('/root', name);
  mkdirSync(home, { mode: 0o755 });
  const [temporaryFile, homeFile, sharedMemoryFile, socket] = [path.join(directory, name), path.join(home, name), `/dev/shm/${name}`, `/run/${name}.sock`];
  for (const file of [temporaryFile, homeFile, sharedMemoryFile]) writeFileSync(file, `${canary}\n`, { mode: 0o666 });
  const servers = [await listen(socket, canary), await listen(`\0${name}`, canary)];
  const loopback = createServer((connection) => connection.on('error', () => undefined).end(canary));
  await new Promise<void>((resolve) => loopback.listen(0, '127.0.0.1', resolve));
  const address = loopback.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const sharedMemoryKey = 0x6d6f0000 + (randomBytes(1)[0] ?? 0);
  perl('my $id = shmget($ARGV[0], 100, 01666) // die $!; shmwrite($id, $ARGV[1], 0, 100)', sharedMemoryKey, canary);
  const numbers = architecturesOf(arch() === 'x64' ? 'amd64' : arch())[0]?.numbers ?? new Map<string, number>();
  perl('my $type = "user"; syscall($ARGV[0] + 0, $type, $ARGV[1], $ARGV[2], length $ARGV[2], -3)', numbers.get('add_key') ?? -1, name, canary);
  const { dev } = statSync('/');
  return {
    canary,
    numbers,
    targets: {
      temporaryFile,
      homeFile,
      sharedMemoryFile,
      socket,
      abstractSocket: name,
      port,
      sharedMemoryKey,
      keyName: name,
      disk: `${(dev >>> 8) & 0xfff} ${(dev & 0xff) | ((dev >>> 12) & 0xfff00)}`,
    },
    evidence: () => ({
      files: digest([temporaryFile, homeFile, sharedMemoryFile].map((file) => `${readFileSync(file, 'utf8')} ${statSync(file).mode}`).join()),
      home: readdirSync(home).join(),
      passwords: digest(['/etc/passwd', '/etc/group', '/etc/shadow'].map((file) => readFileSync(file, 'utf8')).join()),
      kernel: ['core_pattern', 'modprobe', 'randomize_va_space'].map((each) => contentOf(`/proc/sys/kernel/${each}`)).join(),
      hostname: hostname(),
      executables: digest([process.execPath, 'dist/main/moor.js', '/bin/sh', '/usr/bin/setpriv', '/usr/bin/env'].map((file) => readFileSync(file)).join()),
      mounts: mountTargets().filter(isOfSystem).join(),
    }),
    dispose() {
      for (const server of [...servers, loopback]) server.close();
      perl('my $id = shmget($ARGV[0], 0, 0) // exit; shmctl($id, 0, 0)', sharedMemoryKey);
      for (const file of [directory, home, sharedMemoryFile, socket]) rmSync(file, { recursive: true, force: true });
    },
  };
}

/** Not every kernel has all files. */
const contentOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const perl = (script: string, ...args: readonly (string | number)[]): void => void execFileSync('perl', ['-e', script, ...args.map(String)]);

const listen = (where: string, answer: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((connection) => connection.on('error', () => undefined).end(answer));
    server.on('error', reject);
    server.listen(where, () => resolve(server));
  });

const mountTargets = (): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .sort();

/** Elsewhere, other tests mount at the same time. */
const isOfSystem = (target: string): boolean => /^\/(boot|dev|etc|home|lib|proc|root|usr|var)(\/|$)/.test(target);

export const mountsBelow = (directory: string): readonly string[] => mountTargets().filter((target) => target.startsWith(directory));

/** Host process ids whose arguments contain a text. */
export const processesWith = (text: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false; // it has ended meanwhile
      }
    });

/** The limit of processes in a process's control group, or in one around it; '': there is none. */
export function processLimit(pid: number): string {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  // Version 1 has a hierarchy for them, version 2 one for all.
  const [, controller = '', group = '/'] = groups.find(([, controllers]) => controllers === 'pids') ?? groups.find(([number]) => number === '0') ?? [];
  for (let at = group; at !== '/'; at = path.dirname(at)) {
    const limit = contentOf(path.join('/sys/fs/cgroup', controller, at, 'pids.max')).trim();
    if (/^\d+$/.test(limit)) return limit;
  }
  return '';
}
