import { RpcError } from '../grpc/status.ts';
import type { AccessMode, Bench, TestVolume } from './bench.ts';
import type { Need } from './capabilities.ts';
import { type Clause, clauses } from './clauses.ts';
import { expectCode, expectData, expectOk, expectThat, mountsAt, takeDown, writeData } from './expect.ts';
import { listVolumeIds } from './inventory.ts';
import { expectOnce } from './specs/lists.ts';
import type { TestCase } from './test-case.ts';
import { NotApplicable } from './violation.ts';

const create = ['controller:CREATE_DELETE_VOLUME'] as const;
const attach = [...create, 'controller:PUBLISH_UNPUBLISH_VOLUME'] as const;

const concurrency = (
  id: string,
  { title, clause, needs = create }: { title: string; clause: Clause; needs?: readonly Need[] },
  run: TestCase['run'],
): TestCase => ({
  id: `concurrency/${id}`,
  part: 'concurrency',
  title,
  clause,
  needs,
  run,
});

const numbered = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

/** Creates, uses and takes down one volume, while others do the same. */
async function life(bench: Bench, index: number): Promise<TestVolume> {
  const call = <T>(name: string, task: () => Promise<T>): Promise<T> => expectOk(`${name}, while other volumes are used`, () => bench.settle(task));
  const volume = await call('CreateVolume', () => bench.createVolume());
  await call('attaching and staging', () => bench.readyToPublish(volume));
  await call('NodePublishVolume', () => bench.publish(volume));
  if (bench.context.options.accessType === 'mount') {
    await writeData(bench, volume, `data of volume ${index}`);
    await expectData(bench, volume, `data of volume ${index}`);
  }
  return volume;
}

/** A volume that several pods of a node may use. */
async function sharedVolume(bench: Bench): Promise<TestVolume> {
  const modes: readonly AccessMode[] = bench.has('node:SINGLE_NODE_MULTI_WRITER')
    ? ['SINGLE_NODE_MULTI_WRITER', 'MULTI_NODE_MULTI_WRITER']
    : ['MULTI_NODE_MULTI_WRITER'];
  for (const mode of modes) {
    try {
      const volume = await bench.createVolume({}, bench.capability(mode));
      return await bench.readyToPublish(volume);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  throw new NotApplicable(`the driver refuses volumes with ${modes.join(' and ')}`);
}

const pods = (bench: Bench): readonly string[] => numbered(bench.context.options.pods).map((index) => `pod${index}`);

export const concurrencyCases: readonly TestCase[] = [
  concurrency(
    'many volumes',
    { title: 'volumes that are used at the same time do not disturb each other', clause: clauses.createIdempotent },
    async (bench) => {
      const volumes = await Promise.all(numbered(bench.context.options.volumes).map((index) => life(bench, index)));
      expectThat(new Set(volumes.map(({ id }) => id)).size === volumes.length, 'two of the volumes have the same volume_id');
      if (bench.context.options.accessType === 'mount')
        for (const [index, volume] of volumes.entries()) await expectData(bench, volume, `data of volume ${index}`);
      await Promise.all(volumes.map((volume) => expectOk('taking down a volume, while others are', () => bench.settle(() => takeDown(bench, volume)))));
      await Promise.all(volumes.map((volume) => expectOk('DeleteVolume, while others are deleted', () => bench.settle(() => bench.deleteVolume(volume)))));
    },
  ),
  concurrency('one name many times', { title: 'equal calls at the same time make one volume', clause: clauses.createIdempotent }, async (bench) => {
    const request = bench.createVolumeRequest();
    const volumes = await Promise.all(
      numbered(bench.context.options.volumes).map(() =>
        expectOk('CreateVolume of one name at the same time', () => bench.settle(() => bench.performCreateVolume(request))),
      ),
    );
    const ids = [...new Set(volumes.map(({ id }) => id))];
    expectThat(ids.length === 1, `one name has ${ids.length} volumes: ${ids.join(', ')}`);
    if (bench.has('controller:LIST_VOLUMES')) expectOnce('ListVolumes', await listVolumeIds(bench.driver.controller), ids[0] ?? '');
  }),
  concurrency(
    'many pods',
    { title: 'pods of one node use a volume at the same time', clause: clauses.publishTable, needs: [...create, 'mount'] },
    async (bench) => {
      const volume = await sharedVolume(bench);
      await Promise.all(pods(bench).map((pod) => expectOk(`NodePublishVolume for ${pod}`, () => bench.settle(() => bench.publish(volume, pod)))));
      await writeData(bench, volume, 'of the first pod', { pod: 'pod0' });
      for (const pod of pods(bench)) await expectData(bench, volume, 'of the first pod', { pod, what: `the volume of ${pod}` });
      await Promise.all(pods(bench).map((pod) => expectOk(`NodeUnpublishVolume for ${pod}`, () => bench.settle(() => bench.unpublish(volume, pod)))));
      for (const pod of pods(bench)) expectThat((await mountsAt(bench, bench.targetPath(volume, pod))) === 0, `a mount is left for ${pod}`);
    },
  ),
  concurrency(
    'one of two pods leaves',
    { title: 'a pod keeps its volume when another one leaves', clause: clauses.unpublishUndo, needs: [...create, 'mount'] },
    async (bench) => {
      const volume = await sharedVolume(bench);
      await bench.publish(volume, 'leaves');
      await bench.publish(volume, 'stays');
      await writeData(bench, volume, 'of the pod that stays', { pod: 'stays' });
      await expectOk('NodeUnpublishVolume for one of two pods', () => bench.unpublish(volume, 'leaves'));
      await expectData(bench, volume, 'of the pod that stays', { pod: 'stays', what: 'the volume of the pod that stays' });
    },
  ),
  concurrency(
    'another node',
    { title: 'a volume that is published at one node is refused at another', clause: clauses.attachElsewhere, needs: attach },
    async (bench) => {
      const [first, second] = bench.context.nodes;
      const volume = await bench.createVolume();
      await bench.attach(volume, { node: first });
      const node = second ?? { ...first, id: 'moor-csi-test-second-node' };
      const codes = second === undefined ? (['FailedPrecondition', 'NotFound'] as const) : (['FailedPrecondition'] as const);
      await expectCode(`ControllerPublishVolume at ${node.id}, while the volume is published at ${first.id}`, () => bench.attach(volume, { node }), codes);
    },
  ),
  concurrency(
    'moves to another node',
    { title: 'what was written at one node is read at another', clause: clauses.publishTarget, needs: [...create, 'mount', 'second-node'] },
    async (bench) => {
      const [, second] = bench.context.nodes;
      if (second === undefined) throw new NotApplicable('there is one node');
      const volume = await bench.readyToPublish(await bench.createVolume());
      await bench.publish(volume);
      await writeData(bench, volume, 'for the other node');
      await takeDown(bench, volume);
      await bench.readyToPublish(volume, { node: second });
      await bench.publish(volume, 'pod', { node: second });
      await expectData(bench, volume, 'for the other node', { node: second });
    },
  ),
];
