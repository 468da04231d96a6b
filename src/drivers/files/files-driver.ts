import type { Clock } from '../../world/world.ts';
import type { DriverAnswer, NodeDriver, PublishedVolume, PublishToPodRequest } from '../contract.ts';
import { type EmptyDirOptions, makeEmptyDirectory, makeMemoryDirectory, removeEmptyDirectory } from '../empty-dir/node.ts';
import { AtomicFiles } from './atomic-write.ts';
import { makeNestedMountPoints } from './nested-mount-points.ts';
import { attempt, usageOfTree } from './node-host.ts';
import { giveToGroup } from './ownership.ts';
import type { Payload } from './payload.ts';

export interface FilesDriver {
  /** 'kubernetes.io/configmap' */
  readonly name: string;
  /** What is secret is never written to a disk. */
  readonly in: 'disk' | 'memory';
  readonly payload: (request: PublishToPodRequest) => Promise<DriverAnswer<FilesNow>> | DriverAnswer<FilesNow>;
}

export interface FilesNow {
  readonly payload: Payload;
  /** When they have to be made anew; milliseconds since 1970. */
  readonly again?: number;
}

/** A volume whose files are made from objects of the API, and follow them. */
export function filesDriver({ name, in: where, payload }: FilesDriver, options: EmptyDirOptions): NodeDriver {
  return {
    facts: { name, stages: false, mountOptions: false, block: false, follows: true },
    publish: (request) =>
      attempt(async () => {
        const made = await payload(request);
        if (!made.ok) return made;
        await (where === 'disk' ? makeEmptyDirectory(options, request) : makeMemoryDirectory(options, request, undefined));
        await makeNestedMountPoints(options.files, request.target, { volume: request.volume.name, pod: request.pod });
        await write(made.value.payload, request, options);
        const { again } = made.value;
        const published: PublishedVolume = { path: request.target, ...(again === undefined ? {} : { again }) };
        return { ok: true, value: published };
      }),
    unpublish: ({ target }) =>
      attempt(async () => {
        await removeEmptyDirectory(options, target);
        return { ok: true, value: undefined };
      }),
    stats: (path) => usageOfTree(options, path),
  };
}

async function write(payload: Payload, { target, pod, tell }: PublishToPodRequest, { files, clock }: EmptyDirOptions): Promise<void> {
  const atomic = new AtomicFiles(files, target);
  await atomic.write(payload, versionName(clock), () => giveToGroup(target, { files, clock, pod, readOnly: true, when: 'always', tell }));
}

/** '2026_01_31_12_00_00.123456': the next one differs, since no two are made at once in one volume. */
function versionName(clock: Clock): string {
  const time = new Date(clock.now()).toISOString();
  return `${time.slice(0, 19).replace(/[-:T]/g, '_')}.${Math.floor(clock.monotonic() * 1000) % 1_000_000_000}`;
}
