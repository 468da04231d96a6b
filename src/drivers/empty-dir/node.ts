import { compareQuantities, parseQuantity, type Quantity, quantityValue } from '../../api/quantity.ts';
import type { Pod } from '../../api/generated/types.ts';
import type { Clock } from '../../world/world.ts';
import { failed, type NodeDriver, type NodePublishVolumeRequest } from '../contract.ts';
import { attempt, ensureUnmounted, mountAt, type NodeHost, usageOfTree } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';

export interface EmptyDirOptions extends NodeHost {
  readonly clock: Clock;
  /** Of the node: what its pods can have in all. A quantity. */
  readonly allocatableMemory: string;
}

const medium = { disk: '', memory: 'Memory' } as const;

/** A directory that is as old as its pod, on the node's disk or in its memory: kubernetes.io/empty-dir. */
export function emptyDirNode(options: EmptyDirOptions): NodeDriver {
  return {
    capabilities: { name: 'kubernetes.io/empty-dir', stages: false, mountOptions: false, block: false, requiresRemount: false },
    nodePublishVolume: (request) =>
      attempt(async () => {
        const { medium: asked = medium.disk, sizeLimit } = request.volume.source.emptyDir ?? {};
        if (asked === medium.disk) await makeEmptyDirectory(options, request);
        else if (asked === medium.memory) await makeMemoryDirectory(options, request, sizeLimit);
        else return failed('InvalidArgument', `unknown storage medium ${JSON.stringify(asked)}`);
        return { ok: true, value: { path: request.target } };
      }),
    nodeUnpublishVolume: ({ target }) =>
      attempt(async () => {
        await removeEmptyDirectory(options, target);
        return { ok: true, value: undefined };
      }),
    nodeGetVolumeStats: (path) => usageOfTree(options, path),
  };
}

type Where = Pick<NodePublishVolumeRequest, 'target' | 'pod' | 'recordEvent'>;

/** Made aside and then put in its place: what is there is complete. */
export async function makeEmptyDirectory({ files, clock }: NodeHost & { readonly clock: Clock }, { target, pod, recordEvent }: Where): Promise<void> {
  if ((await files.stat(target))?.type === 'directory') return;
  const next = `${target}.new`;
  await files.removeTree(next);
  await files.makeDirectory(next, 0o777);
  await setVolumeOwnership(next, { files, clock, pod, readOnly: false, when: 'always', recordEvent });
  await files.rename(next, target);
}

export async function makeMemoryDirectory(options: EmptyDirOptions, { target, pod, recordEvent }: Where, sizeLimit: string | undefined): Promise<void> {
  const { mounts, files, clock } = options;
  await files.makeDirectory(target, 0o777);
  const before = await mountAt(options, target);
  if (before?.fileSystem !== 'tmpfs') {
    const size = `size=${quantityValue(memorySize(pod, sizeLimit, options.allocatableMemory))}`;
    const mount = (more: readonly string[]) => mounts.mount({ type: 'file-system', fileSystem: 'tmpfs', source: 'tmpfs', target, options: [size, ...more] });
    // Kernels before 6.3 cannot keep it from being swapped.
    await mount(['noswap']).catch((error: { readonly code?: string }) => (error.code === 'EINVAL' ? mount([]) : Promise.reject(error)));
  }
  await setVolumeOwnership(target, { files, clock, pod, readOnly: false, when: 'root-differs', recordEvent });
}

export async function removeEmptyDirectory(host: NodeHost, target: string): Promise<void> {
  await ensureUnmounted(host, target);
  await host.files.removeTree(`${target}.new`);
  await host.files.removeTree(target);
}

/** The smallest of what the volume, the pod's containers together and the node may have. */
export function memorySize({ spec }: Pick<Pod, 'spec'>, sizeLimit: string | undefined, allocatable: string): Quantity {
  const limits = (spec.containers ?? []).map(({ resources }) => resources?.limits?.['memory']);
  const isLimited = limits.length > 0 && limits.every((limit) => limit !== undefined && quantityValue(limit) > 0n);
  const ofPod = isLimited ? limits.reduce((sum, limit) => sum + quantityValue(limit ?? '0'), 0n) : undefined;
  const bounds = [
    allocatable,
    ...(ofPod === undefined ? [] : [String(ofPod)]),
    ...(sizeLimit === undefined || quantityValue(sizeLimit) === 0n ? [] : [sizeLimit]),
  ];
  return bounds.map((bound) => parseQuantity(bound)).reduce((least, bound) => (compareQuantities(bound, least) < 0 ? bound : least));
}
