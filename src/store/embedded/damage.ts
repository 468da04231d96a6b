import { StoreError } from '../contract.ts';

interface DamageFacts {
  readonly file: string;
  readonly expected: string;
  readonly found: string;
  /** So many acknowledged revisions at least cannot be read. */
  readonly missingRevisions?: number;
}

/** A state of the files that no crash leaves behind. The store refuses it and changes nothing. */
export class StoreDamage extends StoreError {
  readonly file: string;
  readonly expected: string;
  readonly found: string;
  readonly missingRevisions: number;

  constructor({ file, expected, found, missingRevisions = 0 }: DamageFacts) {
    const missing =
      missingRevisions > 0 ? `; at least ${missingRevisions} acknowledged ${missingRevisions === 1 ? 'revision is' : 'revisions are'} missing` : '';
    super('corrupt', `${file} is damaged: expected ${expected}, found ${found}${missing}`);
    this.file = file;
    this.expected = expected;
    this.found = found;
    this.missingRevisions = missingRevisions;
  }
}
