/** Small files by name, readable by their owner only: keys and certificates. */
export interface SecretFiles {
  /** undefined: there is no such file. */
  read(name: string): Promise<string | undefined>;
  /** Replaces the file durably and atomically; mode 0600. */
  write(name: string, text: string): Promise<void>;
}
