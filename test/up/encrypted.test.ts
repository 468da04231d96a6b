import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../src/cluster/library.ts';
import { root } from '../moor-process.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mooring-encrypted-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const keyOf = (name: string): string => `{keys: [{name: ${name}, secret: ${Buffer.alloc(32, name).toString('base64')}}]}`;

function configuration(providers: string): string {
  const file = path.join(directory, 'encryption.yaml');
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers: [${providers}]\n`,
  );
  return file;
}

/** The control plane alone, with the same data at each start. */
const start = (encryptionConfig?: string): Promise<Cluster> =>
  startCluster({ dataDir: path.join(directory, 'data'), store: 'embedded', bare: true, controllers: false, logLevel: 'silent', encryptionConfig });

async function kubectl({ kubeconfig }: Cluster, ...args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${path.join(root, '.tools/bin')}:${process.env['PATH']}` };
  const { stdout } = await promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args], { env });
  return stdout;
}

/** The bytes of all files of the store. */
function onDisk(): Buffer {
  const store = path.join(directory, 'data', 'store');
  const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Buffer.concat(files.map((entry) => readFileSync(path.join(entry.parentPath, entry.name))));
}

const password = 'correct-horse-battery-staple';

describe('secrets encrypted at rest', () => {
  test('are nowhere on disk in plain text, and can be read after a restart only with their key', async () => {
    const first = await start(configuration(`{aescbc: ${keyOf('key1')}}`));
    await kubectl(first, 'create', 'secret', 'generic', 'safe', `--from-literal=password=${password}`);
    await kubectl(first, 'create', 'configmap', 'open', '--from-literal=password=nothing-to-hide');
    await first.stop();
    const bytes = onDisk();
    for (const form of [password, Buffer.from(password).toString('base64')]) expect(bytes.includes(form)).toBe(false);
    expect(bytes.includes('k8s:enc:aescbc:v1:key1:')).toBe(true);
    expect(bytes.includes('nothing-to-hide')).toBe(true);

    const again = await start(configuration(`{aescbc: ${keyOf('key1')}}`));
    expect(await kubectl(again, 'get', 'secret', 'safe', '-o', 'jsonpath={.data.password}')).toBe(Buffer.from(password).toString('base64'));
    await again.stop();

    const missing = 'it was encrypted by "aescbc" with key "key1", which the encryption configuration does not have';
    const wrong = await start(configuration(`{aescbc: ${keyOf('key2')}}`));
    const refusal = `Internal error occurred: unable to transform key "/registry/secrets/default/safe": no matching prefix found: ${missing}`;
    await expect(kubectl(wrong, 'get', 'secret', 'safe')).rejects.toThrow(refusal);
    await expect(kubectl(wrong, 'get', 'secrets', '-A')).rejects.toThrow(refusal);
    expect(await kubectl(wrong, 'get', 'configmap', 'open', '-o', 'name')).toBe('configmap/open\n');
    await wrong.stop();

    const without = await start();
    await expect(kubectl(without, 'get', 'secret', 'safe')).rejects.toThrow(`identity transformer tried to read encrypted data: ${missing}`);
    expect(await kubectl(without, 'get', 'configmap', 'open', '-o', 'name')).toBe('configmap/open\n');
    await without.stop();
  });

  test('rewriting every object replaces a key, and likewise ends encryption', async () => {
    const plain = await start();
    await kubectl(plain, 'create', 'secret', 'generic', 'safe', `--from-literal=password=${password}`);
    await plain.stop();

    const rewritten = async (providers: string): Promise<void> => {
      await using cluster = await start(configuration(providers));
      const before = await kubectl(cluster, 'get', 'secret', 'safe', '-o', 'jsonpath={.metadata.resourceVersion}');
      writeFileSync(path.join(directory, 'secrets.json'), await kubectl(cluster, 'get', 'secrets', '-A', '-o', 'json'));
      await kubectl(cluster, 'replace', '-f', path.join(directory, 'secrets.json'));
      const after = await kubectl(cluster, 'get', 'secret', 'safe', '-o', 'jsonpath={.metadata.resourceVersion}');
      expect(Number(after)).toBeGreaterThan(Number(before));
      // An object that is stored with the current key is not written again.
      await kubectl(cluster, 'label', 'secret', 'safe', 'nothing-');
      expect(await kubectl(cluster, 'get', 'secret', 'safe', '-o', 'jsonpath={.metadata.resourceVersion}')).toBe(after);
    };
    await rewritten(`{aescbc: ${keyOf('key1')}}, {identity: {}}`);
    await rewritten(`{aesgcm: ${keyOf('key2')}}, {aescbc: ${keyOf('key1')}}`);
    await rewritten(`{identity: {}}, {aesgcm: ${keyOf('key2')}}`);

    const left = await start();
    expect(await kubectl(left, 'get', 'secret', 'safe', '-o', 'jsonpath={.data.password}')).toBe(Buffer.from(password).toString('base64'));
    await left.stop();
  });
});
