import { clauses } from '../clauses.ts';
import { expectCode, expectData, expectOk, expectThat, shown, takeDown, writeData } from '../expect.ts';
import type { Bench, CreateVolume, TestVolume } from '../bench.ts';
import { NotApplicable, Violation } from '../violation.ts';
import { spec, unknownId } from './spec.ts';

const create = ['controller:CREATE_DELETE_VOLUME'] as const;
const snapshots = [...create, 'controller:CREATE_DELETE_SNAPSHOT'] as const;
const clones = [...create, 'controller:CLONE_VOLUME'] as const;

/** A volume with data, created, written and taken down again. */
async function volumeWithData(bench: Bench, text: string): Promise<TestVolume> {
  const volume = await bench.readyToPublish(await bench.createVolume());
  await bench.publish(volume);
  await writeData(bench, volume, text);
  await takeDown(bench, volume);
  return volume;
}

type Source = NonNullable<CreateVolume['volumeContentSource']>;

async function expectSameContent(bench: Bench, { source, text, what }: { source: Source; text: string; what: string }): Promise<void> {
  const copy = await expectOk(`CreateVolume from ${what}`, () => bench.createVolume({ volumeContentSource: source }));
  const answered = copy.answer.contentSource?.type;
  if (answered?.case !== source.type?.case)
    throw new Violation(`the answer has the content_source ${shown(answered ?? null)}: the CO cannot know whether the volume is empty`, clauses.contentSource);
  await bench.readyToPublish(copy);
  await bench.publish(copy);
  await expectData(bench, copy, text, { what: `the volume from ${what}` });
}

export const volumeSpecs = [
  spec('CreateVolume/no name', { title: 'a request without name is refused', clause: clauses.missingField, needs: create }, (bench) =>
    expectCode('CreateVolume without name', () => bench.createVolume({ name: '' }), ['InvalidArgument']),
  ),
  spec('CreateVolume/no capabilities', { title: 'a request without volume_capabilities is refused', clause: clauses.missingField, needs: create }, (bench) =>
    expectCode('CreateVolume without volume_capabilities', () => bench.createVolume({ volumeCapabilities: [] }), ['InvalidArgument']),
  ),
  spec('CreateVolume/id', { title: 'the volume has an id of at most 128 bytes', clause: clauses.volumeId, needs: create }, async (bench) => {
    const { id } = await expectOk('CreateVolume', () => bench.createVolume());
    expectThat(id !== '', 'the volume_id is empty');
    expectThat(new TextEncoder().encode(id).length <= 128, `the volume_id has more than 128 bytes: ${id}`);
  }),
  spec('CreateVolume/two names', { title: 'two names are two volumes', clause: clauses.volumeId, needs: create }, async (bench) => {
    const [one, other] = [await bench.createVolume(), await bench.createVolume()];
    expectThat(one.id !== other.id, `two names have the same volume_id ${one.id}`);
  }),
  spec('CreateVolume/long name', { title: 'a name of 128 bytes is accepted', clause: clauses.sizeLimit, needs: create }, async (bench) => {
    await expectOk('CreateVolume with a name of 128 bytes', () => bench.createVolume({ name: bench.newName().padEnd(128, 'x') }));
  }),
  spec('CreateVolume/required size', { title: 'the volume has at least required_bytes', clause: clauses.requiredBytes, needs: create }, async (bench) => {
    // No multiple of a block.
    const requiredBytes = bench.context.options.volumeSize + 1n;
    const { capacityBytes } = await expectOk('CreateVolume', () => bench.createVolume({ capacityRange: { requiredBytes } }));
    expectThat(capacityBytes === 0n || capacityBytes >= requiredBytes, `required_bytes is ${requiredBytes}, the volume has ${capacityBytes}`);
  }),
  spec('CreateVolume/size limit', { title: 'the volume has at most limit_bytes', clause: clauses.limitBytes, needs: create }, async (bench) => {
    const limitBytes = bench.context.options.volumeSize + 1n;
    try {
      const { capacityBytes } = await bench.createVolume({ capacityRange: { requiredBytes: bench.context.options.volumeSize, limitBytes } });
      expectThat(capacityBytes <= limitBytes, `limit_bytes is ${limitBytes}, the volume has ${capacityBytes}`);
    } catch (error) {
      if (error instanceof Violation) throw error;
      await expectCode('CreateVolume with a limit', () => Promise.reject(error), ['OutOfRange']);
    }
  }),
  spec(
    'CreateVolume/limit below required',
    { title: 'required_bytes above limit_bytes is refused', clause: clauses.createOutOfRange, needs: create },
    (bench) => {
      const { volumeSize } = bench.context.options;
      const range = { requiredBytes: volumeSize * 2n, limitBytes: volumeSize };
      return expectCode('CreateVolume with required_bytes above limit_bytes', () => bench.createVolume({ capacityRange: range }), [
        'OutOfRange',
        'InvalidArgument',
      ]);
    },
  ),
  spec(
    'CreateVolume/missing snapshot',
    { title: 'a snapshot that does not exist is no source', clause: clauses.createSourceMissing, needs: snapshots },
    (bench) => {
      const source: Source = { type: { case: 'snapshot', value: { snapshotId: unknownId } } };
      return expectCode('CreateVolume from a missing snapshot', () => bench.createVolume({ volumeContentSource: source }), ['NotFound']);
    },
  ),
  spec('CreateVolume/missing volume', { title: 'a volume that does not exist is no source', clause: clauses.createSourceMissing, needs: clones }, (bench) => {
    const source: Source = { type: { case: 'volume', value: { volumeId: unknownId } } };
    return expectCode('CreateVolume from a missing volume', () => bench.createVolume({ volumeContentSource: source }), ['NotFound']);
  }),
  spec(
    'CreateVolume/from snapshot',
    { title: 'the volume has the data of the snapshot', clause: clauses.contentSource, needs: [...snapshots, 'mount'] },
    async (bench) => {
      const volume = await volumeWithData(bench, 'before the snapshot');
      const snapshot = await bench.settle(() => bench.createSnapshot(volume));
      await bench.readyToPublish(volume);
      await bench.publish(volume);
      await writeData(bench, volume, 'after the snapshot');
      await takeDown(bench, volume);
      const source: Source = { type: { case: 'snapshot', value: { snapshotId: snapshot.snapshotId } } };
      await expectSameContent(bench, { source, text: 'before the snapshot', what: 'a snapshot' });
    },
  ),
  spec('CreateVolume/clone', { title: 'the clone has the data of the volume', clause: clauses.contentSource, needs: [...clones, 'mount'] }, async (bench) => {
    const volume = await volumeWithData(bench, 'of the volume');
    const source: Source = { type: { case: 'volume', value: { volumeId: volume.id } } };
    await expectSameContent(bench, { source, text: 'of the volume', what: 'a volume' });
  }),
  spec(
    'CreateVolume/larger clone',
    { title: 'a clone that is larger than its source has at least required_bytes', clause: clauses.requiredBytes, needs: clones },
    async (bench) => {
      const { id } = await bench.createVolume();
      const requiredBytes = bench.context.options.volumeSize * 2n;
      const volumeContentSource: Source = { type: { case: 'volume', value: { volumeId: id } } };
      try {
        const { capacityBytes } = await bench.createVolume({ volumeContentSource, capacityRange: { requiredBytes } });
        expectThat(capacityBytes === 0n || capacityBytes >= requiredBytes, `required_bytes is ${requiredBytes}, the clone has ${capacityBytes}`);
      } catch (error) {
        if (error instanceof Violation) throw error;
        await expectCode('CreateVolume of a larger clone', () => Promise.reject(error), ['OutOfRange', 'InvalidArgument']);
      }
    },
  ),
  spec(
    'CreateVolume/clone without its source',
    { title: 'a clone keeps its data when its source is deleted, or keeps the source', clause: clauses.contentSource, needs: [...clones, 'mount'] },
    async (bench) => {
      const volume = await volumeWithData(bench, 'of the source');
      const clone = await bench.createVolume({ volumeContentSource: { type: { case: 'volume', value: { volumeId: volume.id } } } });
      try {
        await bench.deleteVolume(volume);
      } catch (error) {
        return expectCode('DeleteVolume of a volume with a clone', () => Promise.reject(error), ['FailedPrecondition']);
      }
      await bench.readyToPublish(clone);
      await bench.publish(clone);
      await expectData(bench, clone, 'of the source', { what: 'the clone of a volume that was deleted' });
    },
  ),
  spec(
    'CreateVolume/no secrets',
    { title: 'a request without the secrets that the driver needs is refused', clause: clauses.unauthenticated, needs: create },
    (bench) => {
      if (bench.context.options.secrets.CreateVolumeSecret === undefined) throw new NotApplicable('no CreateVolumeSecret was given (--secrets)');
      return expectCode('CreateVolume without secrets', () => bench.createVolume({ secrets: {} }), ['Unauthenticated', 'InvalidArgument', 'PermissionDenied']);
    },
  ),
  spec('DeleteVolume/no id', { title: 'a request without volume_id is refused', clause: clauses.missingField, needs: create }, (bench) =>
    expectCode('DeleteVolume without volume_id', () => bench.deleteVolume({ id: '' }), ['InvalidArgument']),
  ),
  spec('DeleteVolume/unknown', { title: 'a volume that does not exist is deleted', clause: clauses.deleteIdempotent, needs: create }, (bench) =>
    expectOk('DeleteVolume of an unknown volume', () => bench.deleteVolume({ id: unknownId })),
  ),
  spec(
    'DeleteVolume/with snapshot',
    { title: 'a snapshot survives its volume, or keeps it', clause: clauses.deleteKeepsSnapshots, needs: snapshots },
    async (bench) => {
      const volume = await bench.createVolume();
      const { snapshotId } = await bench.createSnapshot(volume);
      try {
        await bench.deleteVolume(volume);
      } catch (error) {
        return expectCode('DeleteVolume of a volume with a snapshot', () => Promise.reject(error), ['FailedPrecondition']);
      }
      const source: Source = { type: { case: 'snapshot', value: { snapshotId } } };
      await expectOk('CreateVolume from a snapshot whose volume was deleted', () => bench.createVolume({ volumeContentSource: source }));
    },
  ),
];
