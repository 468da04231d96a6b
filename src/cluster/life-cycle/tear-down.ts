/** What a cluster leaves on the machine besides its data: pods with their shims, network and control groups, mounts, and loop devices. */
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { imagesWithDevice, releaseDevice } from '../../host/loop-devices.ts';
import { readMounts, realMounts } from '../../host/mounts.ts';
import { ShimClient } from '../../node/runtimes/sandbox/shim-client.ts';
import type { World } from '../../world/world.ts';
import { shimCommand } from '../sandbox-runtime.ts';

export interface Leftovers {
  readonly pods: number;
  /** Their targets. */
  readonly mounts: readonly string[];
  /** Files that have a loop device. */
  readonly images: readonly string[];
}

/** What cannot be removed; the message names it. */
export class TearDownError extends Error {}

/** The mounts and loop devices of a data directory. Pods always have mounts. */
export async function leftoversIn(dataDir: string): Promise<Omit<Leftovers, 'pods'>> {
  const directory = await realpath(dataDir).catch(() => path.resolve(dataDir));
  const mounts = await readMounts().catch(() => []);
  return {
    mounts: mounts.map(({ target }) => target).filter((target) => target.startsWith(`${directory}/`)),
    images: await imagesWithDevice(directory),
  };
}

/**
 * Removes everything but the data. No process serves the cluster meanwhile.
 * @throws TearDownError
 */
export async function tearDown(dataDir: string, world: World): Promise<Leftovers> {
  const before = await leftoversIn(dataDir);
  // Only root can have made any.
  if (process.getuid?.() !== 0) return { ...before, pods: 0 };
  const pods = await endAllPods(await sandboxesIn(dataDir, before.mounts), world);
  const mounts = realMounts();
  // Of several mounts on one target, each is unmounted; a mount below another one comes later in the table.
  for (const target of before.mounts.toReversed()) {
    await mounts.unmount(target).catch((error: NodeJS.ErrnoException) => {
      // With the one around it, or with its pod's namespace.
      if (error.code === 'EINVAL' || error.code === 'ENOENT') return;
      throw new TearDownError(`${target} cannot be unmounted (${error.message}): a process uses it; "fuser -vm ${target}" names it`, { cause: error });
    });
  }
  for (const image of before.images) await releaseDevice(image, async () => false);
  return { ...before, pods };
}

/** The directories of the nodes' containers. After the directory was removed by other means, its mounts still name them. */
async function sandboxesIn(dataDir: string, mounts: readonly string[]): Promise<readonly string[]> {
  const directory = await realpath(dataDir).catch(() => path.resolve(dataDir));
  const nodes = path.join(directory, 'nodes');
  const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
  const names = await namesIn(nodes);
  const mounted = mounts.flatMap((target) => (target.startsWith(`${nodes}/`) ? (target.slice(nodes.length + 1).split('/')[0] ?? []) : []));
  const own = (await namesIn(directory)).includes('sandbox') ? [path.join(directory, 'sandbox')] : [];
  return [...own, ...Array.from(new Set([...names, ...mounted]), (name) => path.join(nodes, name, 'sandbox'))];
}

async function endAllPods(sandboxes: readonly string[], world: World): Promise<number> {
  // The timers of a world do not keep the process alive while a shim starts.
  const alive = setInterval(() => undefined, 2 ** 31 - 1);
  try {
    let pods = 0;
    for (const root of sandboxes) pods += await endPods(root, world);
    return pods;
  } finally {
    clearInterval(alive);
  }
}

/** A shim that died has left processes behind: the next one ends them. Resolves with the number of pods. */
async function endPods(root: string, world: World): Promise<number> {
  const pods = new Set<string>();
  const shim = new ShimClient({
    world,
    root,
    shim: shimCommand({ root, podCidr: noAddresses }),
    onPod: ({ uid }) => pods.add(uid),
    onGone: () => undefined,
    onLost: () => undefined,
  });
  await shim.open();
  await shim.call({ call: 'shut-down' });
  shim.close();
  return pods.size;
}

/** No pod is started. */
const noAddresses = '192.0.2.0/24';
