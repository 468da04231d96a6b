import type { Bench, TestVolume } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { expectCode, expectOk, expectThat } from '../expect.ts';
import { listVolumeIds } from '../inventory.ts';
import { spec, unknownId } from './spec.ts';

const needs = ['controller:CREATE_DELETE_VOLUME', 'controller:EXPAND_VOLUME'] as const;

export const expand = (bench: Bench, volume: Pick<TestVolume, 'id'> & Partial<TestVolume>, requiredBytes: bigint) =>
  bench.driver.controller.controllerExpandVolume({
    volumeId: volume.id,
    capacityRange: { requiredBytes },
    secrets: { ...bench.secrets('ControllerExpandVolumeSecret') },
    ...(volume.capability === undefined ? {} : { volumeCapability: volume.capability }),
  });

const capacityOf = async (bench: Bench, volumeId: string): Promise<bigint | undefined> => {
  if (!bench.has('controller:LIST_VOLUMES')) return undefined;
  await listVolumeIds(bench.driver.controller);
  const { entries } = await bench.driver.controller.listVolumes({});
  return entries.find(({ volume }) => volume?.volumeId === volumeId)?.volume?.capacityBytes;
};

export const expansionSpecs = [
  spec('ControllerExpandVolume/no volume id', { title: 'a request without volume_id is refused', clause: clauses.missingField, needs }, (bench) =>
    expectCode('ControllerExpandVolume without volume_id', () => expand(bench, { id: '' }, bench.context.options.volumeSize * 2n), ['InvalidArgument']),
  ),
  spec('ControllerExpandVolume/no range', { title: 'a request without capacity_range is refused', clause: clauses.missingField, needs }, async (bench) => {
    const { id: volumeId } = await bench.createVolume();
    const secrets = { ...bench.secrets('ControllerExpandVolumeSecret') };
    await expectCode('ControllerExpandVolume without capacity_range', () => bench.driver.controller.controllerExpandVolume({ volumeId, secrets }), [
      'InvalidArgument',
    ]);
  }),
  spec('ControllerExpandVolume/unknown', { title: 'a volume that does not exist is not found', clause: clauses.expandNoVolume, needs }, (bench) =>
    expectCode('ControllerExpandVolume of an unknown volume', () => expand(bench, { id: unknownId }, bench.context.options.volumeSize * 2n), ['NotFound']),
  ),
  spec('ControllerExpandVolume/grows', { title: 'the volume has the required size afterwards', clause: clauses.expandCapacity, needs }, async (bench) => {
    const volume = await bench.createVolume();
    const wanted = bench.context.options.volumeSize * 2n;
    const { capacityBytes } = await expectOk('ControllerExpandVolume', () => expand(bench, volume, wanted));
    expectThat(capacityBytes >= wanted, `required_bytes is ${wanted}, the answer has ${capacityBytes}`);
  }),
  spec('ControllerExpandVolume/never shrinks', { title: 'a smaller size changes nothing', clause: clauses.expandIdempotent, needs }, async (bench) => {
    const volume = await bench.createVolume();
    const large = bench.context.options.volumeSize * 2n;
    const before = (await expand(bench, volume, large)).capacityBytes;
    const after = await expand(bench, volume, bench.context.options.volumeSize).catch(() => undefined);
    expectThat(
      after === undefined || after.capacityBytes >= before,
      `the volume had ${before} bytes, and after a smaller request it has ${after?.capacityBytes}`,
    );
    const listed = await capacityOf(bench, volume.id);
    expectThat(
      listed === undefined || listed === 0n || listed >= before,
      `the volume had ${before} bytes, and after a smaller request ListVolumes says ${listed}`,
    );
  }),
  spec(
    'ControllerModifyVolume/no volume id',
    { title: 'a request without volume_id is refused', clause: clauses.missingField, needs: ['controller:MODIFY_VOLUME'] },
    (bench) =>
      expectCode(
        'ControllerModifyVolume without volume_id',
        () => bench.driver.controller.controllerModifyVolume({ mutableParameters: { ...bench.context.options.mutableParameters } }),
        ['InvalidArgument'],
      ),
  ),
  spec(
    'ControllerModifyVolume/unknown',
    { title: 'a volume that does not exist is not found', clause: clauses.modifyNoVolume, needs: ['controller:MODIFY_VOLUME'] },
    (bench) => {
      const request = {
        volumeId: unknownId,
        mutableParameters: { ...bench.context.options.mutableParameters },
        secrets: { ...bench.secrets('ControllerModifyVolumeSecret') },
      };
      return expectCode('ControllerModifyVolume of an unknown volume', () => bench.driver.controller.controllerModifyVolume(request), ['NotFound']);
    },
  ),
];
