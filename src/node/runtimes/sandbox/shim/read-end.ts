import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** The last bytes of a file, as text; '' if it cannot be read. A container may make its file as large as it wants: no more than `bytes` are read. */
export function readEnd(file: string, bytes: number): string {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const facts = fstatSync(descriptor);
      if (!facts.isFile()) return '';
      const end = Buffer.alloc(Math.min(bytes, facts.size));
      return end.toString('utf8', 0, readSync(descriptor, end, 0, end.length, facts.size - end.length));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}
