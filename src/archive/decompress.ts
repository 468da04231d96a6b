import { spawn } from 'node:child_process';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { compressionOf, magicBytes } from './compression.ts';
import { ArchiveError } from './tar.ts';

const chunkBytes = 256 * 1024;

/** A file without its compression: plain, gzip or zstd. @throws ArchiveError if it has another one */
export function openArchive(name: string): Readable {
  const file = openSync(name, 'r');
  const start = Buffer.alloc(magicBytes);
  readSync(file, start, 0, magicBytes, 0);
  const compression = compressionOf(start);
  if (compression === 'zstd') return decompressedBy('zstd', file);
  if (compression !== 'none' && compression !== 'gzip') {
    closeSync(file);
    throw new ArchiveError(`it is compressed with ${compression}: archives and layers are plain, or compressed with gzip or zstd`);
  }
  const raw = createReadStream('', { fd: file, start: 0, highWaterMark: chunkBytes });
  if (compression === 'none') return raw;
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  raw.once('error', (error) => gunzip.destroy(error));
  gunzip.once('close', () => raw.destroy());
  return raw.pipe(gunzip);
}

/** Whether it is the archive that is wrong, and not the machine. */
export const isArchiveError = (error: unknown): boolean =>
  error instanceof ArchiveError || ['Z_DATA_ERROR', 'Z_BUF_ERROR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Node.js has no zstd before version 22.15. */
function decompressedBy(program: string, file: number): Readable {
  const child = spawn(program, ['-dc'], { stdio: [file, 'pipe', 'pipe'] });
  closeSync(file);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error(`${program} has no output`);
  let said = '';
  stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(0, 1000);
  });
  stdout.once('close', () => child.kill('SIGKILL'));
  child.once('error', (error: NodeJS.ErrnoException) =>
    stdout.destroy(
      error.code === 'ENOENT' ? new Error(`it is compressed with zstd, and there is no program ${program} here: install the package ${program}`) : error,
    ),
  );
  child.once('exit', (code) => {
    if (code !== 0) stdout.destroy(new ArchiveError(`it cannot be decompressed: ${said.trim() || `${program} ended with ${code}`}`));
  });
  return stdout;
}
