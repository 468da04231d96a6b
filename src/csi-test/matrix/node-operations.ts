import type { Bench, Capability, TestVolume } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { expectThat, mountsAt, publishedVolume } from '../expect.ts';
import { expand } from '../specs/expansion.ts';
import { Violation } from '../violation.ts';
import type { Operation } from './operation.ts';

const create = ['controller:CREATE_DELETE_VOLUME'] as const;
const stage = [...create, 'node:STAGE_UNSTAGE_VOLUME'] as const;

/** The capability that the volume was not created with. */
const otherCapability = (bench: Bench): Capability => bench.capability('SINGLE_NODE_WRITER', bench.context.options.accessType === 'block' ? 'mount' : 'block');

/** As many mounts as after the first call: none, or one. */
function mountedOnce(bench: Bench, path: string): () => Promise<void> {
  return async () => {
    const mounts = await mountsAt(bench, path);
    expectThat(mounts <= 1, `${mounts} mounts lie on ${path}: the first one is hidden and leaks`);
  };
}

function unmounted(bench: Bench, path: string): () => Promise<void> {
  return async () => {
    const mounts = await mountsAt(bench, path);
    expectThat(mounts === 0, `${mounts} mounts are left at ${path}`);
  };
}

const attached = async (bench: Bench): Promise<TestVolume> => {
  const volume = await bench.createVolume();
  if (bench.has('controller:PUBLISH_UNPUBLISH_VOLUME')) await bench.attach(volume);
  return volume;
};

const stageVolume: Operation = {
  call: 'NodeStageVolume',
  clause: clauses.stageIdempotent,
  needs: stage,
  prepare: async (bench) => {
    const volume = await attached(bench);
    return {
      proxy: bench.driver.nodeProxy,
      perform: () => bench.stage(volume),
      other: {
        what: 'NodeStageVolume at the same path with another access type',
        clause: clauses.stageIncompatible,
        codes: ['AlreadyExists', 'InvalidArgument', 'FailedPrecondition'],
        perform: () => bench.stage(volume, { capability: otherCapability(bench) }),
      },
      inverse: () => bench.unstage(volume),
      check: mountedOnce(bench, bench.stagingPath(volume)),
    };
  },
};

const unstageVolume: Operation = {
  call: 'NodeUnstageVolume',
  clause: clauses.unstageIdempotent,
  needs: stage,
  prepare: async (bench) => {
    const volume = await attached(bench);
    await bench.stage(volume);
    return {
      proxy: bench.driver.nodeProxy,
      perform: () => bench.unstage(volume),
      check: unmounted(bench, bench.stagingPath(volume)),
    };
  },
};

const publishVolume: Operation = {
  call: 'NodePublishVolume',
  clause: clauses.publishIdempotent,
  needs: create,
  prepare: async (bench) => {
    const volume = await bench.readyToPublish(await bench.createVolume());
    return {
      proxy: bench.driver.nodeProxy,
      perform: () => bench.publish(volume),
      other: {
        what: 'NodePublishVolume at the same path with another access type',
        clause: clauses.publishIncompatible,
        codes: ['AlreadyExists', 'InvalidArgument', 'FailedPrecondition'],
        perform: () => bench.publish(volume, 'pod', { capability: otherCapability(bench) }),
      },
      inverse: () => bench.unpublish(volume),
      check: mountedOnce(bench, bench.targetPath(volume, 'pod')),
    };
  },
};

const unpublishVolume: Operation = {
  call: 'NodeUnpublishVolume',
  clause: clauses.unpublishIdempotent,
  needs: create,
  prepare: async (bench) => {
    const volume = await publishedVolume(bench);
    const target = bench.targetPath(volume, 'pod');
    const noMount = unmounted(bench, target);
    return {
      proxy: bench.driver.nodeProxy,
      perform: () => bench.unpublish(volume),
      async check() {
        await noMount();
        if ((await bench.context.machine.files.stat(target)) !== undefined)
          throw new Violation(`NodeUnpublishVolume answers OK, but ${target} still exists`, clauses.unpublishDeletes);
      },
    };
  },
};

const expandVolume: Operation = {
  call: 'NodeExpandVolume',
  clause: clauses.nodeExpandIdempotent,
  needs: [...create, 'controller:EXPAND_VOLUME', 'node:EXPAND_VOLUME', 'plugin:ONLINE'],
  prepare: async (bench) => {
    const volume = await publishedVolume(bench);
    const requiredBytes = bench.context.options.volumeSize * 2n;
    await expand(bench, volume, requiredBytes);
    const path = bench.targetPath(volume, 'pod');
    const request = {
      volumeId: volume.id,
      volumePath: path,
      capacityRange: { requiredBytes },
      volumeCapability: volume.capability,
      secrets: { ...bench.secrets('NodeExpandVolumeSecret') },
      ...(bench.has('node:STAGE_UNSTAGE_VOLUME') ? { stagingTargetPath: bench.stagingPath(volume) } : {}),
    };
    return { proxy: bench.driver.nodeProxy, perform: () => bench.driver.node.nodeExpandVolume(request), check: mountedOnce(bench, path) };
  },
};

export const nodeOperations: readonly Operation[] = [stageVolume, unstageVolume, publishVolume, unpublishVolume, expandVolume];
