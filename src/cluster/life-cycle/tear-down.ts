/** What a cluster leaves on the machine besides its data: pods with their shims, network and control groups, mounts, and loop devices. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { imagesWithDevice, releaseDevice } from '../../host/loop-devices.ts';
import { readMounts, realMounts } from '../../host/mounts.ts';
import { identityOfProcess, isRunningProcess, type ProcessIdentity } from '../../host/process-identity.ts';
import { groupOf, nameOf } from '../../node/runtimes/sandbox/shim/layout.ts';
import { marked, processesOf } from '../../node/runtimes/sandbox/shim/processes.ts';
import { ShimClient } from '../../node/runtimes/sandbox/shim-client.ts';
import type { World } from '../../world/world.ts';
import { releaseRoot, separateRootOf } from '../nodes/node-directory.ts';
import { nodesDirectory, removeTable } from '../nodes/network-table.ts';
import { restoreForwarding } from '../nodes/packet-forwarding.ts';
import { shimCommand } from '../sandbox-runtime.ts';
import { namesIn, realPath } from './cluster-record.ts';
import { finishedInTime, longestEndMs, unendedOf, unendedText } from './unended-processes.ts';

export interface Leftovers {
  readonly pods: number;
  /** Their targets. */
  readonly mounts: readonly string[];
  /** Files that have a loop device. */
  readonly images: readonly string[];
}

export interface TearDownOptions {
  readonly world: World;
  /** Told what it waits for. */
  readonly onProgress?: (text: string) => void;
}

/** What cannot be removed; the message names it. */
export class TearDownError extends Error {}

/** The mounts of its nodes, and the loop devices of its images. Pods always have mounts. What else is mounted in the data directory is the administrator's. */
export async function leftoversIn(dataDir: string): Promise<Omit<Leftovers, 'pods'>> {
  const directory = realPath(dataDir);
  const joined = joinedNodes(directory);
  const isOurs = (target: string): boolean => target.startsWith(`${directory}/nodes/`) && !joined.some((node) => target.startsWith(`${node}/`));
  const mounts = [...(await mountsBelow(directory)).filter(isOurs), ...(await volumeMountsBelow(separateRootsIn(directory)))];
  return { mounts, images: await imagesWithDevice(path.join(directory, 'images')) };
}

/** Of its nodes: directories of volumes outside of the data directory (--root-dir). */
export const separateRootsIn = (directory: string): readonly string[] => {
  const joined = joinedNodes(directory);
  const nodes = namesIn(path.join(directory, 'nodes')).map((name) => path.join(directory, 'nodes', name));
  return nodes.filter((node) => !joined.includes(node)).flatMap((node) => separateRootOf(node) ?? []);
};

/** Of directories of volumes (--root-dir): what a node mounts there. */
const volumeMountsBelow = async (roots: readonly string[]): Promise<readonly string[]> =>
  (await Promise.all(roots.flatMap((root) => ['pods', 'plugins'].map((part) => mountsBelow(path.join(root, part)))))).flat();

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
export async function tearDown(dataDir: string, options: TearDownOptions): Promise<Leftovers> {
  const before = await leftoversIn(dataDir);
  const directory = realPath(dataDir);
  const removed = await remove(before, { sandboxes: sandboxesIn(dataDir, before.mounts), tableDirectory: nodesDirectory(directory) }, options);
  for (const name of namesIn(path.join(directory, 'nodes'))) {
    const node = path.join(directory, 'nodes', name);
    if (!joinedNodes(directory).includes(node)) await releaseRoot(node);
  }
  return removed;
}

/** The same for the directory of a `moor node`, which does not run meanwhile. @throws TearDownError */
export async function tearDownNode(root: string, options: TearDownOptions): Promise<Leftovers> {
  const directory = realPath(root);
  const elsewhere = separateRootOf(directory);
  const mounts = [...(await mountsBelow(directory)), ...(await volumeMountsBelow(elsewhere === undefined ? [] : [elsewhere]))];
  const before = { mounts, images: await imagesWithDevice(path.join(directory, 'images')) };
  const removed = await remove(before, { sandboxes: [path.join(directory, 'sandbox')], tableDirectory: directory }, options);
  await releaseRoot(directory);
  return removed;
}

interface NodeNetwork {
  /** The directories of the nodes' containers. */
  readonly sandboxes: readonly string[];
  /** The directory that the nftables table is named after. */
  readonly tableDirectory: string;
}

async function remove(before: Omit<Leftovers, 'pods'>, { sandboxes, tableDirectory }: NodeNetwork, options: TearDownOptions): Promise<Leftovers> {
  // Only root can have made any.
  if (process.getuid?.() !== 0) return { ...before, pods: 0 };
  const { onProgress = () => undefined } = options;
  const pods = await endAllPods(sandboxes, { ...options, left: before });
  await removeTable(tableDirectory);
  await restoreForwarding();
  const mounts = realMounts();
  // Of several mounts on one target, each is unmounted; a mount below another one comes later in the table.
  for (const [done, target] of before.mounts.toReversed().entries()) {
    onProgress(`Unmounting ${target} (${done + 1} of ${before.mounts.length})`);
    await mounts.unmount(target).catch((error: NodeJS.ErrnoException) => {
      // With the one around it, or with its pod's namespace.
      if (error.code === 'EINVAL' || error.code === 'ENOENT') return;
      throw new TearDownError(`${target} cannot be unmounted (${error.message}): a process uses it; "fuser -vm ${target}" names it`, { cause: error });
    });
  }
  for (const [done, image] of before.images.entries()) {
    onProgress(`Releasing the loop device of ${image} (${done + 1} of ${before.images.length})`);
    await releaseDevice(image, async () => false);
  }
  return { ...before, pods };
}

const endingText = (pods: number, gone: number): string => `Ending ${counted(pods, 'pod')}: ${gone} of ${pods} ended`;

/** What was removed, for the user. */
export const removedText = ({ pods, mounts, images }: Leftovers): string =>
  pods + mounts.length + images.length === 0
    ? 'nothing was left to remove'
    : `removed ${counted(pods, 'pod')}, ${counted(mounts.length, 'mount')}, ${counted(images.length, 'loop device')}`;

const leftText = ({ pods, mounts, images }: Leftovers): string =>
  `Left are ${counted(pods, 'pod')}, ${counted(mounts.length, 'mount')}, ${counted(images.length, 'loop device')} and all data: run the command again when that has ended`;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** The directories of the nodes' containers. After the directory was removed by other means, its mounts still name them. */
function sandboxesIn(dataDir: string, mounts: readonly string[]): readonly string[] {
  const nodes = path.join(realPath(dataDir), 'nodes');
  const joined = joinedNodes(realPath(dataDir));
  const mounted = mounts.flatMap((target) => (target.startsWith(`${nodes}/`) ? (target.slice(nodes.length + 1).split('/')[0] ?? []) : []));
  const all = Array.from(new Set([...namesIn(nodes), ...mounted]), (name) => path.join(nodes, name));
  return all.filter((node) => !joined.includes(node)).map((node) => path.join(node, 'sandbox'));
}

interface PodsEnd extends TearDownOptions {
  /** What is removed after the pods, and is left if they do not end. */
  readonly left: Omit<Leftovers, 'pods'>;
}

async function endAllPods(sandboxes: readonly string[], options: PodsEnd): Promise<number> {
  // The timers of a world do not keep the process alive while a shim starts.
  const alive = setInterval(() => undefined, 2 ** 31 - 1);
  try {
    let pods = 0;
    for (const root of sandboxes) pods += await endPods(root, options);
    return pods;
  } finally {
    clearInterval(alive);
  }
}

/** A shim that died has left processes behind: the next one ends them. Resolves with the number of pods. */
async function endPods(root: string, { world, left, onProgress = () => undefined }: PodsEnd): Promise<number> {
  const [pods, gone] = [new Set<string>(), new Set<string>()];
  const shim = new ShimClient({
    world,
    root,
    shim: shimCommand({ root, podCidr: noAddresses }),
    onPod: ({ uid }) => pods.add(uid),
    onGone: (uid) => {
      gone.add(uid);
      onProgress(endingText(pods.size, gone.size));
    },
    onLost: () => undefined,
  });
  try {
    onProgress('Asking for the pods');
    await shim.open();
    onProgress(endingText(pods.size, gone.size));
    // A shim of an older version does not know the call.
    const answer = await finishedInTime(shim.call({ call: 'shut-down' }), { world, progress: () => gone.size });
    if (answer?.value.ok === false) throw new Error(answer.value.error.message);
    // The first process of a container, and of a pod, is in no control group of the pod.
    const first = unendedOf(marked(`${nameOf(root)}:`).values()).map(({ pid }) => pid);
    const processes = () => unendedOf(new Set([...processesOf(groupOf(root)), ...first]));
    if (answer !== undefined) {
      await untilEnded(identityOfProcess(Number(answer.value.value)));
      // A shim that took over from one that died has killed its processes, and does not wait for them.
      await untilNot(() => processes().length > 0, longestEndMs);
    }
    const unended = processes();
    if (unended.length > 0) throw new Error(`${unendedText(unended)}. ${leftText({ ...left, pods: pods.size - gone.size })}`);
    if (answer === undefined) throw new Error(`their container shim does not answer; its log is ${path.join(root, 'shim.log')}`);
    return pods.size;
  } catch (error) {
    throw new TearDownError(`the pods of ${root} cannot be ended: ${(error as Error).message}`, { cause: error });
  } finally {
    shim.close();
  }
}

/** Its last steps leave nothing behind, but would be found as a process. */
const untilEnded = (shim: ProcessIdentity): Promise<void> => untilNot(() => isRunningProcess(shim), longestShimMs);

async function untilNot(condition: () => boolean, longestMs: number): Promise<void> {
  const end = performance.now() + longestMs;
  while (condition() && performance.now() < end) await new Promise((resolve) => void setTimeout(resolve, checkEveryMs));
}

const [checkEveryMs, longestShimMs] = [10, 10_000];

/** No pod is started. */
const noAddresses = '192.0.2.0/24';
