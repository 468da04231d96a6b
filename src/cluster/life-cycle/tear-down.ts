/** What a cluster leaves on the machine besides its data: pods with their shims, network and control groups, mounts, and loop devices. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { imagesWithDevice, releaseDevice } from '../../host/loop-devices.ts';
import { readMounts, realMounts } from '../../host/mounts.ts';
import { identityOfProcess, isRunningProcess, type ProcessIdentity } from '../../host/process-identity.ts';
import { ShimClient } from '../../node/runtimes/sandbox/shim-client.ts';
import type { World } from '../../world/world.ts';
import { shimCommand } from '../sandbox-runtime.ts';
import { namesIn, realPath } from './cluster-record.ts';

export interface Leftovers {
  readonly pods: number;
  /** Their targets. */
  readonly mounts: readonly string[];
  /** Files that have a loop device. */
  readonly images: readonly string[];
}

/** What cannot be removed; the message names it. */
export class TearDownError extends Error {}

/** The mounts of its nodes, and the loop devices of its images. Pods always have mounts. What else is mounted in the data directory is the administrator's. */
export async function leftoversIn(dataDir: string): Promise<Omit<Leftovers, 'pods'>> {
  const directory = realPath(dataDir);
  const joined = joinedNodes(directory);
  const isOurs = (target: string): boolean => target.startsWith(`${directory}/nodes/`) && !joined.some((node) => target.startsWith(`${node}/`));
  return { mounts: (await mountsBelow(directory)).filter(isOurs), images: await imagesWithDevice(path.join(directory, 'images')) };
}

/** The targets of all mounts in a directory. */
export async function mountsBelow(directory: string): Promise<readonly string[]> {
  const mounts = process.platform === 'linux' ? await readMounts() : [];
  return mounts.map(({ target }) => target).filter((target) => target.startsWith(`${directory}/`));
}

/** Directories of nodes that `moor node` runs: they have keys of their own, and may belong to another cluster. */
export const joinedNodes = (directory: string): readonly string[] =>
  namesIn(path.join(directory, 'nodes'))
    .map((name) => path.join(directory, 'nodes', name))
    .filter((node) => existsSync(path.join(node, 'pki')));

/**
 * Removes everything but the data. No process serves the cluster meanwhile.
 * @throws TearDownError
 */
export async function tearDown(dataDir: string, world: World): Promise<Leftovers> {
  const before = await leftoversIn(dataDir);
  // Only root can have made any.
  if (process.getuid?.() !== 0) return { ...before, pods: 0 };
  const pods = await endAllPods(sandboxesIn(dataDir, before.mounts), world);
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
function sandboxesIn(dataDir: string, mounts: readonly string[]): readonly string[] {
  const nodes = path.join(realPath(dataDir), 'nodes');
  const joined = joinedNodes(realPath(dataDir));
  const mounted = mounts.flatMap((target) => target.slice(nodes.length + 1).split('/')[0] ?? []);
  const all = Array.from(new Set([...namesIn(nodes), ...mounted]), (name) => path.join(nodes, name));
  return all.filter((node) => !joined.includes(node)).map((node) => path.join(node, 'sandbox'));
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
  try {
    await shim.open();
    // A shim of an older version does not know the call.
    const ended = await shim.call({ call: 'shut-down' });
    if (!ended.ok) throw new Error(ended.error.message);
    await untilEnded(identityOfProcess(Number(ended.value)));
    return pods.size;
  } catch (error) {
    throw new TearDownError(`the pods of ${root} cannot be ended: ${(error as Error).message}`, { cause: error });
  } finally {
    shim.close();
  }
}

/** Its last steps leave nothing behind, but would be found as a process. */
async function untilEnded(shim: ProcessIdentity): Promise<void> {
  for (let waited = 0; isRunningProcess(shim) && waited < longestMs; waited += checkEveryMs)
    await new Promise((resolve) => void setTimeout(resolve, checkEveryMs));
}

const [checkEveryMs, longestMs] = [10, 10_000];

/** No pod is started. */
const noAddresses = '192.0.2.0/24';
