import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allKinds } from '../../api/kinds/index.ts';
import { describeStore } from '../../store/conformance.ts';
import { put, type Store, StoreError } from '../../store/contract.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import { ConfigFileError } from '../configuration/config-file.ts';
import { transformersOf } from './transformers.ts';
import { EncryptedStore } from './encrypted-store.ts';
import { Transformer } from './transformer.ts';
import { aesCbc, aesGcm, identity, type EncryptionProvider } from './providers.ts';
import { readEncryptionConfiguration } from './encryption-configuration.ts';

const secretOf = (length: number, first = 0): Uint8Array => Uint8Array.from({ length }, (_, i) => i + first);
const key1 = { name: 'key1', secret: secretOf(32) };
const key2 = { name: 'key2', secret: secretOf(32, 1) };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (value: Uint8Array | undefined): string => Buffer.from(value ?? []).toString('latin1');

const encrypted = async (behind: Store, ...providers: ConstructorParameters<typeof Transformer>): Promise<EncryptedStore> => {
  const envelope = new Transformer(...providers);
  return new EncryptedStore(behind, (key) => (key.startsWith('/plain/') ? undefined : envelope));
};

/** Other bytes of the same length: the conformance suite counts bytes. */
const flipped: EncryptionProvider = {
  prefix: '',
  encrypt: (plain) => plain.map((byte) => byte ^ 0xff),
  decrypt: (sealed) => sealed.map((byte) => byte ^ 0xff),
};

describeStore('encrypted', async () => encrypted(openMemoryStore(), flipped));

describe('providers', () => {
  it.each([
    ['aescbc', aesCbc],
    ['aesgcm', aesGcm],
  ])('%s: what is sealed is opened, by every size of key, and never looks the same twice', (name, make) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(16, 24, 32), (plain, size) => {
        const provider = make({ name: 'k', secret: secretOf(size) });
        expect(provider.prefix).toBe(`k8s:enc:${name}:v1:k:`);
        const [one, two] = [provider.encrypt(plain, '/a'), provider.encrypt(plain, '/a')];
        expect(Buffer.compare(one, two)).not.toBe(0);
        expect(Buffer.from(provider.decrypt(one, '/a'))).toEqual(Buffer.from(plain));
      }),
      { numRuns: 50 },
    );
  });

  it('aescbc is what Kubernetes and openssl write: the IV, then CBC with PKCS #7', () => {
    const sealed = Buffer.from('0f0e0d0c0b0a0908070605040302010084abbc2eddd30f2aefc76e20e378c3c7', 'hex');
    expect(text(aesCbc(key1).decrypt(sealed, '/a'))).toBe('{"a":"b"}');
  });

  it('aesgcm: no bit may differ, and a value belongs to its key alone', () => {
    const provider = aesGcm(key1);
    const sealed = provider.encrypt(bytes('secret'), '/a');
    expect(() => provider.decrypt(sealed, '/b')).toThrow('invalid ciphertext');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Uint8Array.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => provider.decrypt(changed, '/a')).toThrow('invalid ciphertext');
    }
  });

  it.each([aesCbc(key1), aesGcm(key1)])('what is cut off is refused, wherever', (provider) => {
    const sealed = provider.encrypt(bytes('secret'), '/a');
    for (let length = 0; length < sealed.length; length += 1) expect(() => provider.decrypt(sealed.subarray(0, length), '/a')).toThrow('invalid ciphertext');
  });
});

describe('a transformer', () => {
  it('encrypts with the first provider, decrypts with all, and knows stale values', () => {
    const before = new Transformer(aesCbc(key1)).transformToStorage(bytes('x'), '/a');
    const now = new Transformer(aesGcm(key2), aesCbc(key1), identity);
    expect(text(now.transformToStorage(bytes('x'), '/a'))).toMatch(/^k8s:enc:aesgcm:v1:key2:/);
    expect(now.transformFromStorage(now.transformToStorage(bytes('x'), '/a'), '/a')).toMatchObject({ stale: false });
    expect(now.transformFromStorage(before, '/a')).toEqual({ plain: Buffer.from('x'), stale: true });
    expect(now.transformFromStorage(bytes('x'), '/a')).toEqual({ plain: Buffer.from('x'), stale: true });
  });

  it('two keys of the same name: the one that decrypts is used', () => {
    const old = new Transformer(aesGcm(key1)).transformToStorage(bytes('x'), '/a');
    const now = new Transformer(aesGcm({ ...key2, name: 'key1' }), aesGcm(key1));
    expect(now.transformFromStorage(old, '/a')).toMatchObject({ stale: true });
  });

  it('identity as the first provider still decrypts old values', () => {
    const old = new Transformer(aesCbc(key1)).transformToStorage(bytes('x'), '/a');
    expect(new Transformer(identity, aesCbc(key1)).transformFromStorage(old, '/a')).toMatchObject({ stale: true });
  });

  it('names the key that is missing', () => {
    const value = new Transformer(aesCbc(key1)).transformToStorage(bytes('x'), '/a');
    expect(() => new Transformer(aesCbc(key2)).transformFromStorage(value, '/a')).toThrow(
      'no matching prefix found: it was encrypted by "aescbc" with key "key1", which the',
    );
    expect(() => new Transformer(identity).transformFromStorage(value, '/a')).toThrow(
      'identity transformer tried to read encrypted data: it was encrypted by "aescbc" with key "key1"',
    );
    expect(() => new Transformer(aesCbc({ ...key2, name: 'key1' })).transformFromStorage(value, '/a')).toThrow(
      'invalid ciphertext: it was written with another key',
    );
    expect(() => new Transformer(aesCbc(key1)).transformFromStorage(bytes('{}'), '/a')).toThrow('no matching prefix found: it is not encrypted');
  });
});

describe('a store with encrypted values', () => {
  it('encrypts only the configured resources, and decrypts a revision once', async () => {
    const behind = openMemoryStore();
    const store = await encrypted(behind, aesGcm(key1));
    const memo = { decoded: true };
    const written = await store.transact({ compares: [], writes: [put('/a', bytes('xyzzy'), memo), put('/plain/b', bytes('open'))] });
    expect(text((await behind.get('/a'))?.value)).toMatch(/^k8s:enc:aesgcm:v1:key1:/);
    expect(text((await behind.get('/plain/b'))?.value)).toBe('open');
    const entry = await store.get('/a');
    expect(text(entry?.value)).toBe('xyzzy');
    expect(entry?.memo).toBe(memo);
    expect(written.ok && written.entries[0]).toBe(entry);
    expect((await store.range({ from: '/a', to: '/b' })).entries[0]).toBe(entry);
  });

  it('a value that cannot be decrypted fails only the reads of it, with its key in the error; a watch that meets it ends', async () => {
    const behind = openMemoryStore();
    await (await encrypted(behind, aesCbc(key1))).transact({ compares: [], writes: [put('/a', bytes('x'))] });
    const store = await encrypted(openedAnew(behind), aesCbc(key2));
    await store.transact({ compares: [], writes: [put('/b', bytes('y'))] });
    await expect(store.get('/a')).rejects.toThrow('unable to transform key "/a": no matching prefix found: it was encrypted by "aescbc" with key "key1"');
    await expect(store.range({ from: '/', to: '0' })).rejects.toThrow(StoreError);
    expect(text((await store.get('/b'))?.value)).toBe('y');
    const ended = await new Promise<StoreError>((resolve) => store.watch({ prefix: '/', after: 1 }, { changes: () => undefined, end: resolve }));
    expect(ended.message).toContain('/a');
  });
});

/** The store as the next process opens it: without memos. */
function openedAnew(store: Store): Store {
  const forgetting = <T extends { memo: unknown } | undefined>(item: T): T => (item === undefined ? item : { ...item, memo: undefined });
  return {
    ...methodsOf(store),
    get: async (key) => forgetting(await store.get(key)),
    range: async (range) => {
      const result = await store.range(range);
      return { ...result, entries: result.entries.map(forgetting) };
    },
    watch: (options, watcher) =>
      store.watch(options, {
        changes: (revision, changes) =>
          watcher.changes(
            revision,
            changes.map((change) => ({ ...change, memo: undefined, entry: forgetting(change.entry), previous: forgetting(change.previous) })),
          ),
        end: (cause) => watcher.end(cause),
      }),
  };
}

const methodsOf = (store: Store): Store => ({
  revision: () => store.revision(),
  currentRevision: () => store.currentRevision(),
  compactedRevision: () => store.compactedRevision(),
  transact: (transaction) => store.transact(transaction),
  get: (key) => store.get(key),
  range: (range) => store.range(range),
  watch: (options, watcher) => store.watch(options, watcher),
  compact: (revision) => store.compact(revision),
  stats: () => store.stats(),
  close: () => store.close(),
});

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n';
const read = (yaml: string) => readEncryptionConfiguration({ name: 'enc.yaml', bytes: bytes(yaml) }).value;
const base64 = (length: number): string => Buffer.alloc(length, 7).toString('base64');
const keys = (name: string): string => `{keys: [{name: ${name}, secret: ${base64(32)}}]}`;

describe('which values are encrypted', () => {
  const envelopeOf = transformersOf(
    read(`${head}- {resources: [secrets, widgets.example.com], providers: [{aescbc: ${keys('a')}}]}
- {resources: ['*.apps'], providers: [{aesgcm: ${keys('b')}}]}
- {resources: [configmaps], providers: [{identity: {}}]}
- {resources: ['*.*'], providers: [{aescbc: ${keys('c')}}]}`),
    allKinds,
  );
  it.each([
    ['/registry/secrets/default/x', 'k8s:enc:aescbc:v1:a:'],
    ['/registry/example.com/widgets/default/x', 'k8s:enc:aescbc:v1:a:'],
    ['/registry/apps/deployments/default/x', 'k8s:enc:aesgcm:v1:b:'],
    ['/registry/configmaps/default/x', '{'],
    ['/registry/events/default/x', 'k8s:enc:aescbc:v1:c:'],
    ['/registry/other.example.com/things/x', 'k8s:enc:aescbc:v1:c:'],
    ['/registry/no-such-resource/x/y', undefined],
    ['/mooring/encrypted-at-rest', undefined],
    ['/mooring/keys', 'k8s:enc:aescbc:v1:a:'],
  ])('%s: %s', (key, prefix) => {
    const envelope = envelopeOf(key);
    if (prefix === undefined) expect(envelope).toBeUndefined();
    else expect(text(envelope?.transformToStorage(bytes('{'), key)).startsWith(prefix)).toBe(true);
  });

  it('without wildcards, only what is named', () => {
    const some = transformersOf(read(`${head}- {resources: [secrets], providers: [{aescbc: ${keys('a')}}]}`), allKinds);
    expect(some('/registry/secrets/a/b')).toBeDefined();
    expect(some('/registry/configmaps/a/b')).toBeUndefined();
    const core = transformersOf(read(`${head}- {resources: ['*.'], providers: [{aescbc: ${keys('a')}}]}`), allKinds);
    expect(core('/registry/configmaps/a/b')).toBeDefined();
    expect(core('/registry/apps/deployments/a/b')).toBeUndefined();
  });
});

describe('an invalid configuration (v1.36.4)', () => {
  const provider = `providers: [{aescbc: ${keys('a')}}]`;
  it.each([
    ['nothing', '[]', 'resources: Required value: at least one resources is required'],
    ['no resources', `- {${provider}}`, 'resources[0].resources: Required value: at least one'],
    ['no providers', '- {resources: [secrets]}', 'resources[0].providers: Required value: at least one'],
    [
      'an empty provider',
      '- {resources: [secrets], providers: [{}]}',
      'resources[0].providers[0]: Invalid value: provider does not contain any of the expected providers',
    ],
    [
      'two in one',
      `- {resources: [secrets], providers: [{identity: {}, aescbc: ${keys('a')}}]}`,
      'resources[0].providers[0]: Invalid value: more than one provider',
    ],
    [
      'kms',
      '- {resources: [secrets], providers: [{kms: {name: x}}]}',
      'resources[0].providers[0].kms: Invalid value: not supported by this server; use aesgcm or aescbc',
    ],
    ['no keys', '- {resources: [secrets], providers: [{aescbc: {keys: []}}]}', 'resources[0].providers[0].aescbc.keys: Required value'],
    ['no secret', '- {resources: [secrets], providers: [{aescbc: {keys: [{name: a}]}}]}', 'aescbc.keys[0].secret: Required value: secret is a mandatory field'],
    ['no name', `- {resources: [secrets], providers: [{aescbc: {keys: [{secret: ${base64(32)}}]}}]}`, 'aescbc.keys[0].name: Required value'],
    [
      'a secret of odd length',
      `- {resources: [secrets], providers: [{aesgcm: {keys: [{name: a, secret: ${base64(31)}}]}}]}`,
      'aesgcm.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 31, expected one of [16 24 32]',
    ],
    [
      'no base64',
      '- {resources: [secrets], providers: [{aesgcm: {keys: [{name: a, secret: "%%%"}]}}]}',
      'Invalid value: "REDACTED": secrets must be base64 encoded',
    ],
    [
      'capitals',
      `- {resources: [Secrets], ${provider}}`,
      'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters',
    ],
    ['a star alone', `- {resources: ["*"], ${provider}}`, "use '*.' to encrypt all the resources from core API group"],
    ['events of the new group', `- {resources: [events.events.k8s.io], ${provider}}`, "Use 'events' instead in the config file"],
    ['across groups', `- {resources: ["secrets.*"], ${provider}}`, 'encrypting the same resource across groups is not supported'],
    ['twice', `- {resources: [secrets, secrets], ${provider}}`, 'the same resource cannot be specified multiple times'],
    ['overlapping', `- {resources: [secrets, "*."], ${provider}}`, 'using overlapping resources'],
    ['masked', `- {resources: ["*."], ${provider}}\n- {resources: [secrets], ${provider}}`, 'resource "secrets" is masked by earlier rule "*."'],
  ])('%s', (_what, yaml, message) => {
    const attempt = () => read(yaml === '[]' ? head.replace(/\n$/, ' []\n') : `${head}${yaml}`);
    expect(attempt).toThrow(ConfigFileError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(base64(31));
  });
});
