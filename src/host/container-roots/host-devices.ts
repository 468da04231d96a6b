import { lstatSync, readdirSync, type Stats } from 'node:fs';
import path from 'node:path';

/** A device node of the machine. */
export interface HostDevice {
  /** Below /dev: 'loop0', 'net/tun'. */
  readonly name: string;
  readonly facts: Stats;
}

/** As containerd's HostDevices: containers have their own of these. */
const left = new Set(['pts', 'shm', 'fd', 'mqueue', '.lxc', '.lxd-mounts', '.udev', 'console']);

/** What a privileged container gets. Links are left out; a device may go meanwhile. */
export function hostDevices(directory: string, below = ''): readonly HostDevice[] {
  return namesIn(path.join(directory, below)).flatMap((each): readonly HostDevice[] => {
    if (left.has(each)) return [];
    const name = path.join(below, each);
    const facts = lstatSync(path.join(directory, name), { throwIfNoEntry: false });
    if (facts?.isDirectory() === true) return hostDevices(directory, name);
    return facts?.isBlockDevice() === true || facts?.isCharacterDevice() === true ? [{ name, facts }] : [];
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
