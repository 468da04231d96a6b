/** What a cluster, or the commands of a folder, have on this machine: counted by their own paths and names, since other clusters run at the same time. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { devicesBelow } from '../drivers/loop-devices.ts';
import { tableOf } from '../../src/cluster/nodes/network-table.ts';
import { nameOf, socketOf } from '../../src/node/runtimes/sandbox/shim/layout.ts';

export interface Traces {
  /** 'PID command' */
  readonly processes: readonly string[];
  readonly mounts: readonly string[];
  readonly devices: readonly string[];
  readonly links: readonly string[];
  readonly groups: readonly string[];
  /** Of nftables. */
  readonly tables: readonly string[];
  readonly socket: boolean;
  readonly directory: boolean;
}

export const nothing: Traces = { processes: [], mounts: [], devices: [], links: [], groups: [], tables: [], socket: false, directory: false };

/** What this machine has of a cluster with one node. */
export function tracesOf(dataDir: string): Traces {
  const sandbox = path.join(dataDir, 'nodes', 'node-1', 'sandbox');
  const name = `moor-${nameOf(sandbox)}`;
  return {
    processes: readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) && belongs(pid, dataDir, nameOf(sandbox)) ? `${pid} ${commandOf(pid)}` : [])),
    mounts: mountsBelow(dataDir),
    devices: devicesBelow(dataDir),
    links: readdirSync('/sys/class/net').filter((link) => link === name),
    groups: ['', ...readdirSync('/sys/fs/cgroup')].map((controller) => path.join('/sys/fs/cgroup', controller, name)).filter((group) => existsSync(group)),
    tables: tables().filter((table) => table === tableOf(path.join(dataDir, 'nodes'))),
    socket: existsSync(socketOf(sandbox)),
    directory: existsSync(dataDir),
  };
}

/** None where the machine has no nft(8). */
const tables = (): readonly string[] =>
  (spawnSync('nft', ['list', 'tables'], { encoding: 'utf8', env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` } }).stdout ?? '')
    .split('\n')
    .map((line) => line.replace(/^table /, ''));

export const mountsBelow = (folder: string): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(` ${folder}/`));

/** 'PID command' of those that have a path below the folder in their command line or environment. */
export const processesOf = (folder: string): readonly string[] =>
  readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) && Number(pid) !== process.pid && isOf(pid, folder) ? `${pid} ${commandOf(pid)}` : []));

const isOf = (pid: string, folder: string): boolean => commandOf(pid).includes(`${folder}/`) || read(`/proc/${pid}/environ`).includes(`${folder}/`);

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
const commandOf = (pid: string): string => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
/** By its arguments, or by the mark that the shim gives its processes. */
const belongs = (pid: string, dataDir: string, mark: string): boolean =>
  Number(pid) !== process.pid && (commandOf(pid).includes(dataDir) || read(`/proc/${pid}/environ`).includes(`=${mark}:`));
