import type { Bench } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { expectCode, expectData, expectOk, expectSame, expectThat, mountsAt, publishedVolume, takeDown, writeData } from '../expect.ts';
import { NotApplicable, Violation } from '../violation.ts';
import { spec, unknownId } from './spec.ts';

const create = ['controller:CREATE_DELETE_VOLUME'] as const;
const stage = [...create, 'node:STAGE_UNSTAGE_VOLUME'] as const;
const stats = [...create, 'node:GET_VOLUME_STATS'] as const;

const exists = async (bench: Bench, path: string): Promise<boolean> => (await bench.context.machine.files.stat(path)) !== undefined;

export const nodeSpecs = [
  spec('NodeGetInfo/node id', { title: 'the node has an id of at most 256 bytes', clause: clauses.nodeId }, async ({ driver }) => {
    const info = await expectOk('NodeGetInfo', () => driver.node.nodeGetInfo({}));
    expectThat(info.nodeId !== '', 'node_id is empty');
    expectThat(new TextEncoder().encode(info.nodeId).length <= 256, `node_id has more than 256 bytes: ${info.nodeId}`);
  }),
  spec('NodeGetInfo/max volumes', { title: 'max_volumes_per_node is not negative', clause: clauses.maxVolumes }, async ({ driver }) => {
    const { maxVolumesPerNode } = await expectOk('NodeGetInfo', () => driver.node.nodeGetInfo({}));
    expectThat(maxVolumesPerNode >= 0n, `max_volumes_per_node is ${maxVolumesPerNode}`);
  }),
  spec(
    'NodeGetInfo/topology',
    { title: 'a node with a topology belongs to a plugin with VOLUME_ACCESSIBILITY_CONSTRAINTS', clause: clauses.nodeTopology },
    async (bench) => {
      const { accessibleTopology } = await expectOk('NodeGetInfo', () => bench.driver.node.nodeGetInfo({}));
      expectThat(
        accessibleTopology === undefined || bench.has('plugin:VOLUME_ACCESSIBILITY_CONSTRAINTS'),
        'NodeGetInfo answers accessible_topology, but the plugin has no capability VOLUME_ACCESSIBILITY_CONSTRAINTS',
      );
    },
  ),
  spec('NodeGetInfo/after restart', { title: 'the node has the same id after a restart', clause: clauses.nodeId, needs: ['restart'] }, async ({ driver }) => {
    const before = await driver.node.nodeGetInfo({});
    await driver.restart();
    expectSame('node_id changes with a restart', before.nodeId, (await driver.node.nodeGetInfo({})).nodeId);
  }),
  spec('NodeGetCapabilities/answers', { title: 'the capabilities are given', clause: clauses.nodeCapabilities }, async ({ driver }) => {
    await expectOk('NodeGetCapabilities', () => driver.node.nodeGetCapabilities({}));
  }),
  spec('NodeStageVolume/no volume id', { title: 'a request without volume_id is refused', clause: clauses.missingField, needs: stage }, async (bench) => {
    const volume = await bench.createVolume();
    await expectCode('NodeStageVolume without volume_id', () => bench.stage({ ...volume, id: '' }), ['InvalidArgument']);
  }),
  spec('NodeStageVolume/no path', { title: 'a request without staging_target_path is refused', clause: clauses.missingField, needs: stage }, async (bench) => {
    const { id: volumeId, capability } = await bench.createVolume();
    const call = () => bench.driver.node.nodeStageVolume({ volumeId, volumeCapability: capability, secrets: { ...bench.secrets('NodeStageVolumeSecret') } });
    await expectCode('NodeStageVolume without staging_target_path', call, ['InvalidArgument']);
  }),
  spec(
    'NodeStageVolume/no capability',
    { title: 'a request without volume_capability is refused', clause: clauses.missingField, needs: stage },
    async (bench) => {
      const volume = await bench.createVolume();
      const stagingTargetPath = bench.stagingPath(volume);
      const call = () => bench.driver.node.nodeStageVolume({ volumeId: volume.id, stagingTargetPath, secrets: { ...bench.secrets('NodeStageVolumeSecret') } });
      await expectCode('NodeStageVolume without volume_capability', call, ['InvalidArgument']);
    },
  ),
  spec('NodeUnstageVolume/no volume id', { title: 'a request without volume_id is refused', clause: clauses.missingField, needs: stage }, (bench) =>
    expectCode('NodeUnstageVolume without volume_id', () => bench.unstage({ id: '' }), ['InvalidArgument']),
  ),
  spec('NodeUnstageVolume/no path', { title: 'a request without staging_target_path is refused', clause: clauses.missingField, needs: stage }, (bench) =>
    expectCode('NodeUnstageVolume without staging_target_path', () => bench.driver.node.nodeUnstageVolume({ volumeId: unknownId }), ['InvalidArgument']),
  ),
  spec('NodePublishVolume/no volume id', { title: 'a request without volume_id is refused', clause: clauses.missingField, needs: create }, async (bench) => {
    const volume = await bench.createVolume();
    await expectCode('NodePublishVolume without volume_id', () => bench.publish({ ...volume, id: '' }), ['InvalidArgument']);
  }),
  spec('NodePublishVolume/no path', { title: 'a request without target_path is refused', clause: clauses.missingField, needs: create }, async (bench) => {
    const { id: volumeId, capability } = await bench.createVolume();
    const call = () =>
      bench.driver.node.nodePublishVolume({ volumeId, volumeCapability: capability, secrets: { ...bench.secrets('NodePublishVolumeSecret') } });
    await expectCode('NodePublishVolume without target_path', call, ['InvalidArgument']);
  }),
  spec(
    'NodePublishVolume/unknown volume',
    { title: 'a volume that does not exist is not found', clause: clauses.publishNoVolume, needs: create },
    async (bench) => {
      const volume = await bench.createVolume();
      await expectCode('NodePublishVolume of an unknown volume', () => bench.publish({ ...volume, id: unknownId, context: {} }), ['NotFound']);
    },
  ),
  spec(
    'NodePublishVolume/at the target',
    { title: 'the volume is at the target path, and gone after NodeUnpublishVolume', clause: clauses.publishTarget, needs: create },
    async (bench) => {
      const volume = await publishedVolume(bench);
      const target = bench.targetPath(volume, 'pod');
      expectThat(await exists(bench, target), `nothing is at ${target}`);
      await bench.unpublish(volume);
      const left = await mountsAt(bench, target);
      if (left > 0) throw new Violation(`NodeUnpublishVolume answers OK, but ${left} mounts are left at ${target}`, clauses.unpublishUndo);
      if (await exists(bench, target)) throw new Violation(`NodeUnpublishVolume answers OK, but ${target} still exists`, clauses.unpublishDeletes);
    },
  ),
  spec(
    'NodePublishVolume/data stays',
    { title: 'what a pod writes is there for the next pod', clause: clauses.publishTarget, needs: [...create, 'mount'] },
    async (bench) => {
      const volume = await publishedVolume(bench);
      await writeData(bench, volume, 'for the next pod');
      await takeDown(bench, volume);
      await bench.readyToPublish(volume);
      await bench.publish(volume, 'next');
      await expectData(bench, volume, 'for the next pod', { pod: 'next' });
    },
  ),
  spec(
    'NodePublishVolume/read-only',
    { title: 'a volume that is published read-only cannot be written', clause: clauses.publishReadonly, needs: [...create, 'mount', 'mounts'] },
    async (bench) => {
      const volume = await bench.readyToPublish(await bench.createVolume());
      await expectOk('NodePublishVolume with readonly', () => bench.publish(volume, 'pod', { readonly: true }));
      try {
        await writeData(bench, volume, 'to a read-only volume');
      } catch (error) {
        if (error instanceof NotApplicable) return;
        throw error;
      }
      throw new Violation('readonly is true, but the published volume can be written');
    },
  ),
  spec(
    'NodePublishVolume/fails cleanly',
    { title: 'a call that fails leaves no mount behind', clause: clauses.unpublishUndo, needs: [...create, 'mount'] },
    async (bench) => {
      const volume = await bench.readyToPublish(await bench.createVolume());
      const target = bench.targetPath(volume, 'pod');
      const { files } = bench.context.machine;
      await files.makeDirectory(target.slice(0, target.lastIndexOf('/')), 0o750);
      // A directory cannot be mounted on a file.
      await files.write(target, new Uint8Array(), 0o644);
      try {
        await bench.publish(volume);
      } catch {
        // What it leaves is found in the ledger.
      }
      await expectOk('NodeUnpublishVolume after a NodePublishVolume that failed', () => bench.unpublish(volume));
      const left = await mountsAt(bench, target);
      expectThat(left === 0, `${left} mounts are left at ${target}`);
      if (await exists(bench, target)) await files.removeFile(target);
    },
  ),
  spec('NodeUnpublishVolume/no volume id', { title: 'a request without volume_id is refused', clause: clauses.missingField, needs: create }, (bench) =>
    expectCode('NodeUnpublishVolume without volume_id', () => bench.unpublish({ id: '' }), ['InvalidArgument']),
  ),
  spec('NodeUnpublishVolume/no path', { title: 'a request without target_path is refused', clause: clauses.missingField, needs: create }, async (bench) => {
    const { id: volumeId } = await bench.createVolume();
    await expectCode('NodeUnpublishVolume without target_path', () => bench.driver.node.nodeUnpublishVolume({ volumeId }), ['InvalidArgument']);
  }),
  spec(
    'NodeUnpublishVolume/never published',
    { title: 'a target path that does not exist is unpublished', clause: clauses.unpublishIdempotent, needs: create },
    async (bench) => {
      const volume = await bench.createVolume();
      await expectOk('NodeUnpublishVolume of a target path that does not exist', () => bench.unpublish(volume, 'never'));
    },
  ),
  spec('NodeGetVolumeStats/answers', { title: 'the statistics have a total', clause: clauses.stats, needs: stats }, async (bench) => {
    const volume = await publishedVolume(bench);
    const request = { volumeId: volume.id, volumePath: bench.targetPath(volume, 'pod') };
    const { usage } = await expectOk('NodeGetVolumeStats', () => bench.driver.node.nodeGetVolumeStats(request));
    expectThat(
      usage.some(({ total }) => total > 0n),
      'no usage has a total',
    );
  }),
  spec(
    'NodeGetVolumeStats/unknown volume',
    { title: 'a volume that does not exist is not found', clause: clauses.statsNoVolume, needs: stats },
    async (bench) => {
      const volume = await publishedVolume(bench);
      const request = { volumeId: unknownId, volumePath: bench.targetPath(volume, 'pod') };
      await expectCode('NodeGetVolumeStats of an unknown volume', () => bench.driver.node.nodeGetVolumeStats(request), ['NotFound']);
    },
  ),
  spec('NodeGetVolumeStats/unknown path', { title: 'a path without the volume is not found', clause: clauses.statsNoVolume, needs: stats }, async (bench) => {
    const volume = await publishedVolume(bench);
    const request = { volumeId: volume.id, volumePath: `${bench.context.options.workDir}/no-such-path` };
    await expectCode('NodeGetVolumeStats of an unknown path', () => bench.driver.node.nodeGetVolumeStats(request), ['NotFound']);
  }),
  spec(
    'NodeExpandVolume/unknown volume',
    { title: 'a volume that does not exist is not found', clause: clauses.nodeExpandNoVolume, needs: [...create, 'node:EXPAND_VOLUME'] },
    async (bench) => {
      const request = {
        volumeId: unknownId,
        volumePath: `${bench.context.options.workDir}/no-such-path`,
        capacityRange: { requiredBytes: bench.context.options.volumeSize * 2n },
      };
      await expectCode('NodeExpandVolume of an unknown volume', () => bench.driver.node.nodeExpandVolume(request), ['NotFound']);
    },
  ),
];
