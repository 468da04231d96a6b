import type { Clock } from '../../world/world.ts';
import type { DriverAnswer, NodeDriver, NodePublishVolumeResponse, NodePublishVolumeRequest } from '../contract.ts';
import { type EmptyDirOptions, makeEmptyDirectory, makeMemoryDirectory, removeEmptyDirectory } from '../empty-dir/node.ts';
import { AtomicWriter } from './atomic-writer.ts';
import { makeNestedMountPoints } from './nested-mount-points.ts';
import { attempt, usageOfTree } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';
import type { Payload } from './payload.ts';

export interface ApiFilesDriver {
  /** 'kubernetes.io/configmap' */
  readonly name: string;
  /** What is secret is never written to a disk. */
  readonly medium: 'disk' | 'memory';
  readonly payload: (request: NodePublishVolumeRequest) => Promise<DriverAnswer<CurrentPayload>> | DriverAnswer<CurrentPayload>;
}

export interface CurrentPayload {
  readonly payload: Payload;
  /** When they have to be made anew; milliseconds since 1970. */
  readonly republishAt?: number;
}

/** A volume whose files are made from objects of the API, and follow them. */
export function apiFilesDriver({ name, medium: where, payload }: ApiFilesDriver, options: EmptyDirOptions): NodeDriver {
  return {
    capabilities: { name, stages: false, mountOptions: false, block: false, requiresRemount: true },
    nodePublishVolume: (request) =>
      attempt(async () => {
        const made = await payload(request);
        if (!made.ok) return made;
        await (where === 'disk' ? makeEmptyDirectory(options, request) : makeMemoryDirectory(options, request, undefined));
        await makeNestedMountPoints(options.files, request.target, { volume: request.volume.name, pod: request.pod });
        await write(made.value.payload, request, options);
        const { republishAt: again } = made.value;
        const published: NodePublishVolumeResponse = { path: request.target, ...(again === undefined ? {} : { republishAt: again }) };
        return { ok: true, value: published };
      }),
    nodeUnpublishVolume: ({ target }) =>
      attempt(async () => {
        await removeEmptyDirectory(options, target);
        return { ok: true, value: undefined };
      }),
    nodeGetVolumeStats: (path) => usageOfTree(options, path),
  };
}

async function write(payload: Payload, { target, pod, recordEvent: tell }: NodePublishVolumeRequest, { files, clock }: EmptyDirOptions): Promise<void> {
  const atomic = new AtomicWriter(files, target);
  await atomic.write(payload, versionName(clock), () => setVolumeOwnership(target, { files, clock, pod, readOnly: true, when: 'always', recordEvent: tell }));
}

/** '2026_01_31_12_00_00.123456': the next one differs, since no two are made at once in one volume. */
function versionName(clock: Clock): string {
  const time = new Date(clock.now()).toISOString();
  return `${time.slice(0, 19).replace(/[-:T]/g, '_')}.${Math.floor(clock.monotonic() * 1000) % 1_000_000_000}`;
}
