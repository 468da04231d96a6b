import { createHash, createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import path from 'node:path';
import type { SecretFiles } from '../../world/secret-files.ts';
import { DataDamage } from './data-damage.ts';

interface KeyFilesOptions {
  /** Of the files, for messages. */
  readonly directory: string;
  readonly files: SecretFiles;
  /** What the manifest has. */
  readonly recorded: Readonly<Record<string, readonly string[]>>;
  /** Writes the manifest with these. */
  readonly save: (recorded: Readonly<Record<string, readonly string[]>>) => Promise<void>;
}

/**
 * Key files that are checked against the manifest as they are read. One that the manifest names and that is missing, or is another, is
 * refused: it is never made anew.
 *
 * A file is replaced in three steps (both fingerprints in the manifest, the file, one fingerprint), so that a crash leaves what the next
 * start accepts.
 */
export class KeyFiles implements SecretFiles {
  readonly #options: KeyFilesOptions;
  #recorded: Readonly<Record<string, readonly string[]>>;
  /** Files of a cluster that is being created are recorded together, at the end. */
  #isRecording: boolean;

  constructor(options: KeyFilesOptions & { readonly isNew: boolean }) {
    this.#options = options;
    this.#recorded = options.recorded;
    this.#isRecording = !options.isNew;
  }

  async read(name: string): Promise<string | undefined> {
    const text = await this.#options.files.read(name);
    const file = path.join(this.#options.directory, name);
    const known = this.#recorded[name];
    if (text === undefined) {
      if (known !== undefined) throw new DataDamage({ file, expected: `${kindOf(name)} with fingerprint ${known.join(' or ')}`, found: 'no file' });
      return undefined;
    }
    const fingerprint = fingerprintOf(file, text);
    if (known !== undefined && !known.includes(fingerprint)) {
      throw new DataDamage({ file, expected: `${kindOf(name)} with fingerprint ${known.join(' or ')}`, found: `one with fingerprint ${fingerprint}` });
    }
    if (known === undefined) this.#recorded = { ...this.#recorded, [name]: [fingerprint] };
    return text;
  }

  async write(name: string, text: string): Promise<void> {
    const fingerprint = fingerprintOf(path.join(this.#options.directory, name), text);
    const before = this.#recorded[name] ?? [];
    this.#recorded = { ...this.#recorded, [name]: [...before, fingerprint] };
    if (this.#isRecording) await this.#options.save(this.#recorded);
    await this.#options.files.write(name, text);
    this.#recorded = { ...this.#recorded, [name]: [fingerprint] };
    if (this.#isRecording) await this.#options.save(this.#recorded);
  }

  /** From now on each change is recorded at once. */
  async record(): Promise<void> {
    this.#isRecording = true;
    await this.#options.save(this.#recorded);
  }
}

const kindOf = (name: string): string => (name.endsWith('.key') ? 'a private key' : 'a certificate');

/** Of the public part. @throws DataDamage if the file holds something else */
export function fingerprintOf(file: string, text: string): string {
  try {
    if (file.endsWith('.crt')) return `sha256:${new X509Certificate(text).fingerprint256.replaceAll(':', '').toLowerCase()}`;
    const key = createPublicKey(createPrivateKey(text)).export({ type: 'spki', format: 'der' });
    return `sha256:${createHash('sha256').update(key).digest('hex')}`;
  } catch {
    const found = text === '' ? 'an empty file' : `${text.length} characters that are none`;
    throw new DataDamage({ file, expected: `${kindOf(file)} in PEM`, found });
  }
}
