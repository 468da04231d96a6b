/** Directories with the lifetime of their pod: emptyDir volumes, and the volumes that the kubelet builds on them. */
import type { Pod } from '../../api/generated/types.ts';
import { compareQuantities, parseQuantity, type Quantity, quantityValue } from '../../api/quantity.ts';
import type { Clock } from '../../world/world.ts';
import type { NodePublishVolumeRequest } from '../contract.ts';
import { ensureUnmounted, mountAt, type NodeHost } from './node-host.ts';
import { setVolumeOwnership } from './volume-ownership.ts';

export interface EmptyDirectoryOptions extends NodeHost {
  readonly clock: Clock;
  /** The node's allocatable memory: a quantity. */
  readonly allocatableMemory: string;
}

type Target = Pick<NodePublishVolumeRequest, 'target' | 'pod' | 'recordEvent'>;

/** Created under another name, then renamed: an existing directory is complete. */
export async function makeEmptyDirectory({ files, clock }: NodeHost & { readonly clock: Clock }, { target, pod, recordEvent }: Target): Promise<void> {
  if ((await files.stat(target))?.type === 'directory') return;
  const next = `${target}.new`;
  await files.removeTree(next);
  await files.makeDirectory(next, 0o777);
  await setVolumeOwnership(next, { files, clock, pod, readOnly: false, when: 'always', recordEvent });
  await files.rename(next, target);
}

export async function makeTmpfs(options: EmptyDirectoryOptions, { target, pod, recordEvent }: Target, sizeLimit: string | undefined): Promise<void> {
  const { mounts, files, clock } = options;
  await files.makeDirectory(target, 0o777);
  const before = await mountAt(options, target);
  if (before?.fileSystem !== 'tmpfs') {
    const size = `size=${quantityValue(memorySize(pod, sizeLimit, options.allocatableMemory))}`;
    const mount = (more: readonly string[]) => mounts.mount({ type: 'file-system', fileSystem: 'tmpfs', source: 'tmpfs', target, options: [size, ...more] });
    // Kernels before 6.3 do not know noswap.
    await mount(['noswap']).catch((error: { readonly code?: string }) => (error.code === 'EINVAL' ? mount([]) : Promise.reject(error)));
  }
  await setVolumeOwnership(target, { files, clock, pod, readOnly: false, when: 'root-differs', recordEvent });
}

export async function removeEmptyDirectory(host: NodeHost, target: string): Promise<void> {
  await ensureUnmounted(host, target);
  await host.files.removeTree(`${target}.new`);
  await host.files.removeTree(target);
}

/** The smallest of the volume's sizeLimit, the containers' memory limits and the node's allocatable. */
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
