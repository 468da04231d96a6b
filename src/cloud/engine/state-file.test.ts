import { expect, test } from 'vitest';
import { SimulatedDisk } from '../../sim/world/disk.ts';
import { simulate } from '../../sim/world/world.ts';
import { Cloud } from './cloud.ts';
import { DamagedStateFile, StateFile, StateFileInUse } from './state-file.ts';

const zone = 'us-west-2a';

test.each([1, 2, 3, 4, 5, 6])('what was answered outlives a power failure (seed %d)', (seed) =>
  simulate(seed, async (world) => {
    let disk = new SimulatedDisk();
    const acknowledged: string[] = [];
    for (let run = 0; run < 4; run++) {
      const file = await StateFile.open(disk, '/data');
      const cloud = new Cloud({ world, records: file.records, keep: file.keep });
      for (const id of acknowledged) expect(cloud.state.volumes.has(id)).toBe(true);
      acknowledged.push((await cloud.call('CreateVolume', { zone, sizeGiB: 1 })).id);
      const unanswered = cloud.call('CreateVolume', { zone, sizeGiB: 2 });
      await world.sleep(Math.floor(world.random.float() * 100));
      cloud.close();
      disk = disk.crash(world.random);
      void unanswered.catch(() => undefined);
    }
  }),
);

test('what was deleted does not come back, and the file does not grow with each start', () =>
  simulate(1, async (world) => {
    const disk = new SimulatedDisk();
    const first = await StateFile.open(disk, '/data');
    const cloud = new Cloud({ world, records: first.records, keep: first.keep });
    const { id } = await cloud.call('CreateVolume', { zone, sizeGiB: 1 });
    await world.sleep(60_000);
    await cloud.call('DeleteVolume', id);
    await world.sleep(60_000);
    cloud.close();
    await first.close();
    const second = await StateFile.open(disk, '/data');
    expect(second.records).toEqual([]);
    await second.close();
    expect(await disk.size('/data/cloud.jsonl')).toBe(0);
  }));

test.each(['{', '"a"', '[{"in":"toString","id":"a"}]', '[1]'])('a file with the line %s is damaged, and stays as it is', async (line) => {
  const disk = new SimulatedDisk();
  await disk.makeDirectory('/data');
  const file = await disk.openAppend('/data/cloud.jsonl');
  await file.append([new TextEncoder().encode(`${line}\n`)]);
  await file.sync();
  await file.close();
  const size = await disk.size('/data/cloud.jsonl');
  await expect(StateFile.open(disk, '/data')).rejects.toThrow(DamagedStateFile);
  expect(await disk.size('/data/cloud.jsonl')).toBe(size);
});

test('a second process is refused before it replaces the file', async () => {
  const disk = new SimulatedDisk();
  const first = await StateFile.open(disk, '/data');
  await expect(StateFile.open(disk, '/data')).rejects.toThrow(StateFileInUse);
  await first.keep([{ in: 'tokens', id: 'a', record: { id: 'a', at: 0, parameters: '', resources: [] } }]);
  await first.close();
  const second = await StateFile.open(disk, '/data');
  expect(second.records).toHaveLength(1);
  await second.close();
});

test('a file that has grown is written anew while the cloud runs', async () => {
  const disk = new SimulatedDisk();
  const file = await StateFile.open(disk, '/data');
  const parameters = 'x'.repeat(1024 * 1024);
  for (let at = 0; at < 20; at++) await file.keep([{ in: 'tokens', id: 'a', record: { id: 'a', at, parameters, resources: [] } }]);
  expect(await disk.size('/data/cloud.jsonl')).toBeLessThan(8 * 1024 * 1024);
  await file.close();
  const again = await StateFile.open(disk, '/data');
  expect(again.records).toMatchObject([{ record: { at: 19 } }]);
  await again.close();
});

test('after a write that failed, nothing is written behind what it left', async () => {
  const disk = new SimulatedDisk();
  const file = await StateFile.open(disk, '/data');
  const token = (id: string) => [{ in: 'tokens', id, record: { id, at: 0, parameters: '', resources: [] } }] as const;
  await file.keep(token('a'));
  disk.capacity = disk.used + 10;
  await expect(file.keep(token('b'))).rejects.toThrow();
  disk.capacity = Number.POSITIVE_INFINITY;
  await expect(file.keep(token('c'))).rejects.toThrow('could not be written before');
  await file.close();
  const again = await StateFile.open(disk, '/data');
  expect(again.records.map(({ id }) => id)).toEqual(['a']);
  await again.close();
});
