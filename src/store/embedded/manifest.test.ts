import { expect, test } from 'vitest';
import { SimulatedDisk } from '../../sim/world/disk.ts';
import { Manifest, readManifest } from './manifest.ts';

test.each(['sync', 'rename', 'syncDirectory'] as const)('progress whose manifest was refused (%s) is written the next time', async (refused) => {
  let broken = false;
  const disk = new SimulatedDisk({
    before: ({ name }) => {
      if (broken && name === refused) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    },
  });
  await disk.makeDirectory('/data');
  const segment = { path: '/data/log-0000000000000001', base: 1, last: 1, bytes: 64, digest: 0 };
  const manifest = new Manifest({ disk, directory: '/data', clusterId: 'c' }, { snapshot: undefined, segments: [segment] });
  await manifest.saveProgress();
  segment.bytes = 100;
  broken = true;
  await expect(manifest.saveProgress()).rejects.toThrow('EIO');
  broken = false;
  await manifest.saveProgress();
  expect((await readManifest(disk, '/data'))?.segments[0]?.bytes).toBe(100);
  expect(manifest.isUncertain).toBe(false);
});
