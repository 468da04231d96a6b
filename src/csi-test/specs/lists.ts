import type { Bench } from '../bench.ts';
import { clauses } from '../clauses.ts';
import { expectCode, expectOk, expectThat, shown } from '../expect.ts';
import { listVolumeIds } from '../inventory.ts';
import { spec, unknownId } from './spec.ts';

const create = ['controller:CREATE_DELETE_VOLUME'] as const;
const list = [...create, 'controller:LIST_VOLUMES'] as const;
const validateSecrets = (bench: Bench) => ({ ...bench.secrets('ControllerValidateVolumeCapabilitiesSecret') });

export function expectOnce(what: string, ids: readonly string[], id: string): void {
  const times = ids.filter((each) => each === id).length;
  expectThat(times === 1, `${what} has ${id} ${times} times, not once`);
}

export const listSpecs = [
  spec('ListVolumes/contains', { title: 'a volume is in the list once, and not after it was deleted', clause: clauses.listAll, needs: list }, async (bench) => {
    const volume = await bench.createVolume();
    expectOnce('ListVolumes', await listVolumeIds(bench.driver.controller), volume.id);
    await bench.deleteVolume(volume);
    expectThat(!(await listVolumeIds(bench.driver.controller)).includes(volume.id), `ListVolumes has ${volume.id} after it was deleted`);
  }),
  spec('ListVolumes/pages', { title: 'pages of one entry contain every volume once', clause: clauses.listAll, needs: list }, async (bench) => {
    const volumes = [await bench.createVolume(), await bench.createVolume(), await bench.createVolume()];
    for (const size of [1, 2]) {
      const ids = await listVolumeIds(bench.driver.controller, size);
      for (const { id } of volumes) expectOnce(`ListVolumes in pages of ${size}`, ids, id);
    }
  }),
  spec(
    'ListVolumes/max_entries',
    { title: 'a page has at most max_entries, and names the next one', clause: clauses.listMaxEntries, needs: list },
    async (bench) => {
      await bench.createVolume();
      await bench.createVolume();
      const page = await expectOk('ListVolumes with max_entries 1', () => bench.driver.controller.listVolumes({ maxEntries: 1 }));
      expectThat(page.entries.length <= 1, `max_entries is 1, the page has ${page.entries.length}`);
      expectThat(page.nextToken !== '', 'there are more volumes, but next_token is empty');
    },
  ),
  spec('ListVolumes/bad token', { title: 'a token that the driver did not give is refused', clause: clauses.listBadToken, needs: list }, async (bench) => {
    await bench.createVolume();
    await expectCode('ListVolumes with an invalid starting_token', () => bench.driver.controller.listVolumes({ startingToken: 'no-token' }), ['Aborted']);
  }),
  spec('GetCapacity/answers', { title: 'the capacity is a size', clause: clauses.capacity, needs: ['controller:GET_CAPACITY'] }, async (bench) => {
    const answer = await expectOk('GetCapacity', () => bench.driver.controller.getCapacity({ volumeCapabilities: [bench.capability()] }));
    expectThat(answer.availableCapacity >= 0n, `available_capacity is ${answer.availableCapacity}`);
    const [least, most] = [answer.minimumVolumeSize, answer.maximumVolumeSize];
    expectThat(least === undefined || most === undefined || least <= most, `minimum_volume_size ${least} is above maximum_volume_size ${most}`);
  }),
  spec(
    'ControllerGetVolume/same',
    { title: 'the volume is as it was created', clause: clauses.getVolume, needs: [...create, 'controller:GET_VOLUME'] },
    async (bench) => {
      const { id } = await bench.createVolume();
      const { volume } = await expectOk('ControllerGetVolume', () => bench.driver.controller.controllerGetVolume({ volumeId: id }));
      expectThat(volume?.volumeId === id, `ControllerGetVolume of ${id} answers ${shown(volume?.volumeId ?? null)}`);
    },
  ),
  spec(
    'ControllerGetVolume/unknown',
    { title: 'a volume that does not exist is not found', clause: clauses.getVolume, needs: ['controller:GET_VOLUME'] },
    (bench) => expectCode('ControllerGetVolume of an unknown volume', () => bench.driver.controller.controllerGetVolume({ volumeId: unknownId }), ['NotFound']),
  ),
  spec(
    'ControllerGetCapabilities/answers',
    { title: 'the capabilities are given', clause: clauses.controllerCapabilities, needs: ['controller-service'] },
    async (bench) => {
      await expectOk('ControllerGetCapabilities', () => bench.driver.controller.controllerGetCapabilities({}));
    },
  ),
  spec('ValidateVolumeCapabilities/no volume id', { title: 'a request without volume_id is refused', clause: clauses.missingField, needs: create }, (bench) =>
    expectCode(
      'ValidateVolumeCapabilities without volume_id',
      () => bench.driver.controller.validateVolumeCapabilities({ volumeCapabilities: [bench.capability()], secrets: validateSecrets(bench) }),
      ['InvalidArgument'],
    ),
  ),
  spec(
    'ValidateVolumeCapabilities/no capabilities',
    { title: 'a request without volume_capabilities is refused', clause: clauses.missingField, needs: create },
    async (bench) => {
      const { id: volumeId } = await bench.createVolume();
      const call = () => bench.driver.controller.validateVolumeCapabilities({ volumeId, secrets: validateSecrets(bench) });
      await expectCode('ValidateVolumeCapabilities without volume_capabilities', call, ['InvalidArgument']);
    },
  ),
  spec(
    'ValidateVolumeCapabilities/unknown',
    { title: 'a volume that does not exist is not found', clause: clauses.validateNoVolume, needs: create },
    (bench) => {
      const request = { volumeId: unknownId, volumeCapabilities: [bench.capability()], secrets: validateSecrets(bench) };
      return expectCode('ValidateVolumeCapabilities of an unknown volume', () => bench.driver.controller.validateVolumeCapabilities(request), ['NotFound']);
    },
  ),
  spec(
    'ValidateVolumeCapabilities/confirmed',
    { title: 'the capability of CreateVolume is confirmed', clause: clauses.validateConfirmed, needs: create },
    async (bench) => {
      const volume = await bench.createVolume();
      const request = {
        volumeId: volume.id,
        volumeContext: { ...volume.context },
        volumeCapabilities: [volume.capability],
        parameters: { ...bench.context.options.parameters },
        secrets: validateSecrets(bench),
      };
      const { confirmed, message } = await expectOk('ValidateVolumeCapabilities', () => bench.driver.controller.validateVolumeCapabilities(request));
      expectThat(
        (confirmed?.volumeCapabilities.length ?? 0) > 0,
        `the capability that the volume was created with is not confirmed: ${message || 'no message'}`,
      );
    },
  ),
];
