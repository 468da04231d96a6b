import type { Clock } from '../../world/world.ts';
import { attempt, done, type DriverAnswer, type NodeDriver, type NodePublishVolumeRequest, succeeded } from '../contract.ts';
import { type EmptyDirectoryOptions, makeEmptyDirectory, makeTmpfs, removeEmptyDirectory } from '../mount/empty-directory.ts';
import { AtomicWriter } from './atomic-writer.ts';
import { makeNestedMountPoints } from './nested-mount-points.ts';
import { usageOfTree } from '../mount/node-host.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';
import type { Payload } from './payload.ts';

export interface ApiFilesDriver {
  /** 'kubernetes.io/configmap' */
  readonly name: string;
  /** Secret data is never written to a disk. */
  readonly medium: 'disk' | 'memory';
  readonly payload: (request: NodePublishVolumeRequest) => Promise<DriverAnswer<CurrentPayload>> | DriverAnswer<CurrentPayload>;
}

export interface CurrentPayload {
  readonly payload: Payload;
  /** When the payload expires; milliseconds since 1970. */
  readonly republishAt?: number;
}

/** A volume whose files come from API objects, and are updated with them. */
export function apiFilesDriver({ name, medium: where, payload }: ApiFilesDriver, options: EmptyDirectoryOptions): NodeDriver {
  return {
    capabilities: { name, stages: false, mountOptions: false, block: false, requiresRemount: true },
    nodePublishVolume: (request) =>
      attempt(async () => {
        const made = await payload(request);
        if (!made.ok) return made;
        await (where === 'disk' ? makeEmptyDirectory(options, request) : makeTmpfs(options, request, undefined));
        await makeNestedMountPoints(options.files, request.target, { volume: request.volume.name, pod: request.pod });
        await write(made.value.payload, request, options);
        const { republishAt } = made.value;
        return succeeded({ path: request.target, ...(republishAt === undefined ? {} : { republishAt }) });
      }),
    nodeUnpublishVolume: ({ target }) =>
      attempt(async () => {
        await removeEmptyDirectory(options, target);
        return done;
      }),
    nodeGetVolumeStats: (path) => usageOfTree(options, path),
  };
}

export const withoutExpiry = (payload: DriverAnswer<Payload>): DriverAnswer<CurrentPayload> => (payload.ok ? succeeded({ payload: payload.value }) : payload);

async function write(payload: Payload, { target, pod, recordEvent }: NodePublishVolumeRequest, { files, clock }: EmptyDirectoryOptions): Promise<void> {
  const atomic = new AtomicWriter(files, target);
  await atomic.write(payload, versionName(clock), () => setVolumeOwnership(target, { files, clock, pod, readOnly: true, when: 'always', recordEvent }));
}

/** '2026_01_31_12_00_00.123456': unique, since the writes of one volume are sequential. */
function versionName(clock: Clock): string {
  const time = new Date(clock.now()).toISOString();
  return `${time.slice(0, 19).replace(/[-:T]/g, '_')}.${Math.floor(clock.monotonic() * 1000) % 1_000_000_000}`;
}
