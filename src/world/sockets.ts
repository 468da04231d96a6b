import type { Cancel } from './world.ts';

/** Unix sockets of this machine. */
export interface Sockets {
  /**
   * Calls back with all sockets below the directory, once and after each change, for as long as the directory can be read: path → identity. A socket that
   * was removed and made again has another identity. Names that begin with '.' are left out. The directory is made if it is missing.
   */
  watch(directory: string, onChange: (sockets: ReadonlyMap<string, string>) => void): Cancel;
}
