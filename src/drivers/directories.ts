/** The file system as far as the driver needs it. Errors are rejections with a message for people. */
export interface Directories {
  /** With all that leads to it; one that exists is fine. */
  make(path: string): Promise<void>;
  /** With all that is in it; one that does not exist is fine. A note is removed as well. */
  remove(path: string): Promise<void>;
  /** The names in it; none if it does not exist. */
  list(path: string): Promise<readonly string[]>;
  /** A small file; undefined if there is none. */
  readFile(path: string): Promise<string | undefined>;
  /** Replaces it at once: whoever reads it sees the old one or the new one. */
  writeFile(path: string, text: string): Promise<void>;
}
