/** The file system of the drivers with local assets. Errors are rejections. */
export interface Directories {
  /** With its parents; an existing directory is no error. */
  make(path: string): Promise<void>;
  /** Makes the directory. Rejects one in which another user of the machine could change or replace files. */
  own(path: string): Promise<void>;
  /** Recursively; a missing path is no error. Removes files too. Follows no link below the path's first directory, and enters no mount. */
  remove(path: string): Promise<void>;
  /** Its names; empty if it does not exist. */
  list(path: string): Promise<readonly string[]>;
  /** Undefined: the file does not exist. */
  readFile(path: string): Promise<string | undefined>;
  /** Atomically. */
  writeFile(path: string, text: string): Promise<void>;
}
