import { readFile } from 'node:fs/promises';
import type { Kind } from '../../api/kind.ts';
import { transformersOf } from '../../apiserver/encryption/transformers.ts';
import { EncryptedStore } from '../../apiserver/encryption/encrypted-store.ts';
import { identity } from '../../apiserver/encryption/providers.ts';
import { type EncryptionRule, readEncryptionConfiguration } from '../../apiserver/encryption/encryption-configuration.ts';
import { countEncryptedValues } from '../../apiserver/encryption/count-encrypted.ts';
import { absent, put, remove, type Store } from '../../store/contract.ts';
import type { Log } from '../../world/world.ts';
import { encryptedMarker } from './encrypted-marker.ts';

export interface EncryptionOptions {
  /** An EncryptionConfiguration of apiserver.config.k8s.io/v1. Undefined: encrypted values cannot be read. */
  readonly configFile: string | undefined;
  readonly kinds: readonly Kind[];
  readonly log: Log;
}

/** The store that encrypts and decrypts. @throws ConfigFileError, and what reading the file throws */
export async function encryptedStore(behind: Store, options: EncryptionOptions): Promise<Store> {
  const rules = options.configFile === undefined ? identityOnly : await readRules(options.configFile, options.log);
  const found = await countEncryptedValues(behind);
  logMissingKeys(found, rules, options);
  if (options.configFile !== undefined) await behind.transact({ compares: [absent(encryptedMarker)], writes: [put(encryptedMarker, new Uint8Array(0))] });
  else if (found.size === 0) {
    await behind.transact({ compares: [], writes: [remove(encryptedMarker)] });
    return behind;
  }
  return new EncryptedStore(behind, transformersOf(rules, options.kinds));
}

/** As in Kubernetes without a configuration: reading an encrypted value is an error that names its key. */
const identityOnly: readonly EncryptionRule[] = [{ resource: { group: '*', resource: '*' }, providers: [identity] }];

async function readRules(file: string, log: Log): Promise<readonly EncryptionRule[]> {
  const { value, warnings } = readEncryptionConfiguration({ name: file, bytes: await readFile(file) });
  for (const warning of warnings) log.warn('the encryption configuration has a part without effect', { file, warning });
  return value;
}

/** Logged at the start, for all values: a later error names only the value that a client reads. */
function logMissingKeys(found: ReadonlyMap<string, number>, rules: readonly EncryptionRule[], { configFile, log }: EncryptionOptions): void {
  const known = new Set(rules.flatMap(({ providers }) => providers.map(({ prefix }) => prefix)));
  for (const [prefix, objects] of found) {
    if (known.has(prefix)) continue;
    const why = configFile === undefined ? 'there is no --encryption-provider-config' : `${configFile} does not have their key`;
    log.error('objects are encrypted and cannot be read', { encryption: prefix, objects, why });
  }
}
