import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../../moor-process.ts';
import type { MemberNamespaces } from './member-namespaces.ts';

const toolsPath = `${path.join(root, '.tools/bin')}:${process.env['PATH'] ?? ''}`;

/** etcd as scripts/setup found or unpacked it; undefined: there is none. */
export const etcdProgram = toolsPath
  .split(':')
  .map((directory) => path.join(directory, 'etcd'))
  .find((file) => isExecutable(file));

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * A real etcd cluster on addresses of the loopback network that are its own, so that no port is taken; its data is in memory, if the machine
 * has /dev/shm. With namespaces, each member is in one of its own. Heartbeats and elections are slow: the machine may stand still for seconds.
 */
export class RealEtcd {
  readonly #directory = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'mooring-etcd-'));
  readonly #addresses: readonly string[];
  readonly #namespaces: MemberNamespaces | undefined;
  readonly #members: (ChildProcess | undefined)[];
  #tls: readonly string[] = [];
  #said = '';

  constructor(members = 3, namespaces?: MemberNamespaces) {
    const [a = 0, b = 0] = randomBytes(2);
    this.#namespaces = namespaces;
    this.#addresses = namespaces?.addresses ?? Array.from({ length: members }, (_, i) => `127.${64 + (a % 64)}.${b}.${i + 1}`);
    this.#members = this.#addresses.map(() => undefined);
  }

  get servers(): readonly string[] {
    return this.#addresses.map((address) => `${this.#scheme}://${address}:2379`);
  }

  get addresses(): readonly string[] {
    return this.#addresses;
  }

  get #scheme(): string {
    return this.#tls.length > 0 ? 'https' : 'http';
  }

  /** For the next starts: clients need TLS, and a certificate of the authority. PEM. */
  useTls({ ca, cert, key }: { readonly ca: string; readonly cert: string; readonly key: string }): void {
    const file = (name: string, text: string): string => {
      writeFileSync(path.join(this.#directory, name), text, { mode: 0o600 });
      return path.join(this.#directory, name);
    };
    this.#tls = [
      `--trusted-ca-file=${file('ca.crt', ca)}`,
      `--cert-file=${file('server.crt', cert)}`,
      `--key-file=${file('server.key', key)}`,
      '--client-cert-auth',
      // With 1.3, a client that sends first may see a reset connection instead of the reason why its certificate is refused.
      '--tls-max-version=TLS1.2',
    ];
  }

  start(member: number): void {
    const [name, address] = [`m${member}`, this.#addresses[member]];
    const cluster = this.#addresses.map((each, i) => `m${i}=http://${each}:2380`).join(',');
    const args = [
      ...['listen-client-urls', 'advertise-client-urls'].map((flag) => `--${flag}=${this.#scheme}://${address}:2379`),
      ...['listen-peer-urls', 'initial-advertise-peer-urls'].map((flag) => `--${flag}=http://${address}:2380`),
      ...this.#tls,
      `--name=${name}`,
      `--data-dir=${path.join(this.#directory, name)}`,
      `--initial-cluster=${cluster}`,
      '--initial-cluster-state=new',
      '--heartbeat-interval=500',
      '--election-timeout=5000',
      '--unsafe-no-fsync',
      '--log-level=warn',
    ];
    const program = etcdProgram ?? 'etcd';
    const [command, ...before] = this.#namespaces?.command(member, program) ?? [program];
    const child = spawn(command, [...before, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk.toString()}`.slice(-10_000);
    });
    child.on('error', (error) => (this.#said += String(error)));
    process.once('exit', () => child.kill('SIGKILL'));
    this.#members[member] = child;
  }

  startAll(): void {
    for (const member of this.#addresses.keys()) this.start(member);
  }

  async signal(member: number, signal: NodeJS.Signals): Promise<void> {
    const child = this.#members[member];
    // One that has ended says nothing more.
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = signal === 'SIGKILL' ? new Promise<void>((resolve) => child.once('exit', () => resolve())) : undefined;
    child.kill(signal);
    await ended;
  }

  /** What the members wrote last. */
  output(): string {
    return this.#said;
  }

  async stop(): Promise<void> {
    const running = this.#members.filter((child) => child?.exitCode === null && child.signalCode === null);
    await Promise.all(running.map((child) => new Promise<void>((resolve) => (child?.once('exit', () => resolve()), child?.kill('SIGKILL')))));
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
