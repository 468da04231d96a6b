import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { realDisk } from '../../src/host/disk.ts';
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts';

const writers = fileURLToPath(new URL('writers.mjs', import.meta.url));

test('a directory is locked while its process lives, and says by whom; not a moment longer, even if it is killed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'moor-lock-'));
  const holder = spawn(process.execPath, [writers, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(holder.stdout, 'data');
    await expect(openEmbeddedStore({ directory, disk: realDisk })).rejects.toMatchObject({
      code: 'locked',
      message: `${directory} is in use by another process (pid ${holder.pid})`,
    });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await (await openEmbeddedStore({ directory, disk: realDisk })).close();
  } finally {
    holder.kill('SIGKILL');
    await rm(directory, { recursive: true });
  }
});

test('a directory that cannot be used is reported with the reason', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'moor-lock-'));
  await writeFile(join(directory, 'file'), '');
  await expect(openEmbeddedStore({ directory: join(directory, 'file'), disk: realDisk })).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('cannot open'),
  });
  await rm(directory, { recursive: true });
});
