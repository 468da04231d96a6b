import type { Cancel } from './world.ts';

/** Files of manifests on this machine. */
export interface Manifests {
  /**
   * Calls back with the content of all files of the directory, once and after each change: path → bytes, in the order of paths. Names that begin with '.' and
   * directories are left out. The directory is made if it is missing.
   */
  watch(directory: string, onChange: (files: ReadonlyMap<string, Uint8Array>) => void): Cancel;
}
