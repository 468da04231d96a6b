import { identity, joined, type EncryptionProvider, startsWith } from './providers.ts';

export interface DecryptedValue {
  readonly plain: Uint8Array;
  /** Another provider or another key would encrypt it today. */
  readonly stale: boolean;
}

interface Prefixed {
  readonly provider: EncryptionProvider;
  readonly prefix: Uint8Array;
}

const prefixed = (provider: EncryptionProvider): Prefixed => ({ provider, prefix: Buffer.from(provider.prefix) });

/** The providers of one resource: the first one encrypts, all of them decrypt (upstream: value.PrefixTransformers). */
export class Transformer {
  readonly #writer: Prefixed;
  readonly #readers: readonly Prefixed[];

  constructor(first: EncryptionProvider, ...others: readonly EncryptionProvider[]) {
    this.#writer = prefixed(first);
    this.#readers = [this.#writer, ...others.map(prefixed)];
  }

  transformToStorage(plain: Uint8Array, key: string): Uint8Array {
    const { provider, prefix } = this.#writer;
    return prefix.length === 0 ? provider.encrypt(plain, key) : joined([prefix, provider.encrypt(plain, key)]);
  }

  /** @throws Error that names the missing key, or says why no provider can decrypt the value */
  transformFromStorage(value: Uint8Array, key: string): DecryptedValue {
    let refused: unknown;
    for (const [at, { provider, prefix }] of this.#readers.entries()) {
      if (!startsWith(value, prefix)) continue;
      try {
        return { plain: provider.decrypt(value.subarray(prefix.length), key), stale: at > 0 };
      } catch (error) {
        // Two providers may have keys of the same name, and `identity` matches every value: the next provider is tried.
        if (provider === identity && this.#readers.length > 1) continue;
        refused ??= provider === identity ? new Error(`${(error as Error).message}: ${describe(value)}`) : error;
      }
    }
    throw refused ?? new Error(`no matching prefix found: ${describe(value)}`);
  }
}

/** The provider and key that the value's prefix names. */
function describe(value: Uint8Array): string {
  const head = /^k8s:enc:([^:]{1,64}):v\d+:([^:]{1,256}):/.exec(Buffer.from(value.subarray(0, 400)).toString('latin1'));
  if (head === null) return 'it is not encrypted, and no provider is "identity"';
  return `it was encrypted by "${head[1]}" with key "${head[2]}", which the encryption configuration does not have`;
}
