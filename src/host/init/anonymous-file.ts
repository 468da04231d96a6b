/** A file without a name, for an executable that is used once: no process can open it for writing. */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import koffi from 'koffi';
import { systemError } from '../system-error.ts';

const library = koffi.load(null);
const createMemoryFile = library.func('int memfd_create(const char *name, unsigned int flags)');
const control = library.func('int fcntl(int fd, int command, int argument)');

/** Linux before 6.3 does not know `executable`; from then on a machine may demand it. */
const memory = { closeOnExec: 1, allowSealing: 2, executable: 0x10 } as const;
const addSeals = 1033;
/** No seal can be added, and the file cannot shrink, grow or be written. */
const allSeals = 0x1 | 0x2 | 0x4 | 0x8;
/** Of open(2), in a directory: a file that never gets a name. */
const unnamed = 0o20_000_000 | constants.O_DIRECTORY;

/** The descriptor of the file, which the caller closes. Programs that this process starts do not inherit it. */
export function anonymousFile(content: Uint8Array): number {
  const file = memoryFile();
  if (file === undefined) return temporaryFile(content);
  try {
    writeAll(file, content);
    if ((control(file, addSeals, allSeals) as number) !== 0) throw systemError('fcntl', koffi.errno());
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Undefined: this machine does not permit executables in memory. */
function memoryFile(): number | undefined {
  for (const executable of [memory.executable, 0]) {
    const file = createMemoryFile('init', memory.closeOnExec | memory.allowSealing | executable) as number;
    if (file >= 0) return file;
  }
  return undefined;
}

/** Linux refuses to execute a file that is open for writing. */
function temporaryFile(content: Uint8Array): number {
  const file = openSync(tmpdir(), unnamed | constants.O_RDWR | constants.O_EXCL, 0o500);
  try {
    writeAll(file, content);
    return openSync(`/proc/self/fd/${file}`, constants.O_RDONLY);
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, content: Uint8Array): void {
  for (let done = 0; done < content.length; ) done += writeSync(file, content, done);
}
