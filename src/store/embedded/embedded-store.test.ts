import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { realDisk } from '../../host/disk.ts';
import { SimulatedDisk } from '../../sim/world/disk.ts';
import { describeStore } from '../conformance.ts';
import { openEmbeddedStore } from './embedded-store.ts';

describeStore('embedded, on a simulated disk', () => openEmbeddedStore({ directory: '/data', disk: new SimulatedDisk() }));

const directories: string[] = [];
afterAll(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true }))));

describeStore('embedded, on the real disk', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'moor-store-'));
  directories.push(directory);
  return openEmbeddedStore({ directory, disk: realDisk });
});
