interface DamageFacts {
  readonly file: string;
  readonly expected: string;
  readonly found: string;
  /** A sentence; absent: restore a backup, or repair. */
  readonly advice?: string;
}

/** A state of the data directory that no crash leaves behind. It is refused and left as it is. */
export class DataDamage extends Error {
  readonly file: string;
  readonly advice: string | undefined;

  constructor({ file, expected, found, advice }: DamageFacts) {
    super(`${file} is damaged: expected ${expected}, found ${found}`);
    this.name = 'DataDamage';
    this.file = file;
    this.advice = advice;
  }
}

/** The data directory was written by a newer Mooring. */
export class NewerData extends Error {}
