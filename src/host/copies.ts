import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import type { Copies } from '../drivers/csi/server/backend.ts';

/** By cp(1), which shares extents where the file system can, and keeps holes. */
export const realCopies: Copies = {
  async copy(from, to, mountedAt) {
    if (await exists(to)) return;
    const next = `${to}.new`;
    // A copy that a killed process left is not complete.
    await fs.rm(next, { recursive: true, force: true });
    if (mountedAt !== undefined) await run('sync', ['--file-system', mountedAt]);
    await run('cp', ['--archive', '--no-target-directory', '--reflink=auto', '--sparse=always', '--', from, next]);
    await run('sync', ['--file-system', next]);
    await fs.rename(next, to);
  },
};

const exists = (path: string): Promise<boolean> =>
  fs.lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? false : Promise.reject(error)),
  );

function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(program, args, (error, _, said) => {
      if (error === null) resolve();
      else
        reject(Object.assign(new Error(`${program}: ${said.trim().slice(0, 500) || error.message}`), said.includes('No space left') ? { code: 'ENOSPC' } : {}));
    });
  });
}
