import { expect, test } from 'vitest';
import { SimulatedDisk } from '../../sim/world/disk.ts';
import { simulate } from '../../sim/world/world.ts';
import { Cloud } from './cloud.ts';
import { DamagedStateFile, StateFile } from './state-file.ts';

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
