import { absent, at, put, type Store, StoreError } from '../../store/contract.ts';
import type { SecretFiles } from '../../world/secret-files.ts';
import { ensureSigningKey } from '../authentication/token-issuer.ts';
import { ensureAuthorities } from './certificate-files.ts';

/** The keys that all servers of a cluster have in common are one value: no server sees the key of one authority and the certificate of another. */
export const sharedKeysKey = '/mooring/keys';

/** Of the certificate authorities, and of service account tokens. A certificate comes after its key. */
export const sharedKeyNames = ['ca.key', 'ca.crt', 'front-proxy-ca.key', 'front-proxy-ca.crt', 'sa.key'] as const;
const isShared = (name: string): boolean => sharedKeyNames.some((shared) => shared === name);

/**
 * The certificate authorities, and the key that signs service account tokens, in the store: of all servers, the first one makes them. `own` has
 * the files of this server alone, and keys from the time when they were not shared.
 */
export async function openSharedKeys(store: Store, own: SecretFiles, now: number): Promise<SecretFiles> {
  if ((await store.get(sharedKeysKey)) === undefined) {
    const first = new Map<string, string>();
    for (const name of sharedKeyNames) {
      const text = await own.read(name);
      if (text !== undefined) first.set(name, text);
    }
    const files = filesInMemory(first);
    await ensureAuthorities(files, now);
    await ensureSigningKey(files);
    await replace(store, { modRevision: 0, keys: Object.fromEntries(first) });
  }
  return new SharedKeys(store, own);
}

/** The authority of the cluster, as a process beside its servers reads it; undefined: there is none yet. */
export async function readSharedKeys(store: Pick<Store, 'get'>): Promise<SecretFiles | undefined> {
  const entry = await store.get(sharedKeysKey);
  return entry === undefined ? undefined : filesInMemory(new Map(Object.entries(keysIn(entry.value))));
}

/** For a server without a directory. */
export function filesInMemory(files = new Map<string, string>()): SecretFiles {
  return {
    read: (name) => Promise.resolve(files.get(name)),
    write: async (name, text) => void files.set(name, text),
  };
}

type Keys = Readonly<Record<string, string>>;

const keysIn = (value: Uint8Array): Keys => JSON.parse(Buffer.from(value).toString()) as Keys;

class SharedKeys implements SecretFiles {
  readonly #store: Store;
  readonly #own: SecretFiles;
  /** A key whose certificate follows. */
  #begun: Keys = {};

  constructor(store: Store, own: SecretFiles) {
    this.#store = store;
    this.#own = own;
  }

  async read(name: string): Promise<string | undefined> {
    return isShared(name) ? (await this.#current()).keys[name] : this.#own.read(name);
  }

  async write(name: string, text: string): Promise<void> {
    if (!isShared(name)) return this.#own.write(name, text);
    this.#begun = { ...this.#begun, [name]: text };
    if (name.endsWith('ca.key')) return;
    const { modRevision, keys } = await this.#current();
    await replace(this.#store, { modRevision, keys: { ...keys, ...this.#begun } });
    this.#begun = {};
  }

  async #current(): Promise<{ readonly modRevision: number; readonly keys: Keys }> {
    const entry = await this.#store.get(sharedKeysKey);
    return entry === undefined ? { modRevision: 0, keys: {} } : { modRevision: entry.modRevision, keys: keysIn(entry.value) };
  }
}

/** If another server was faster, its keys are the cluster's. */
async function replace(store: Store, { modRevision, keys }: { readonly modRevision: number; readonly keys: Keys }): Promise<void> {
  const compare = modRevision === 0 ? absent(sharedKeysKey) : at(sharedKeysKey, modRevision);
  const result = await store.transact({ compares: [compare], writes: [put(sharedKeysKey, Buffer.from(JSON.stringify(keys)))] });
  if (!result.ok && modRevision > 0) throw new StoreError('undecided', 'another server renews the certificate authority at the same time');
}
