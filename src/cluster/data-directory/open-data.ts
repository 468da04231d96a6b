import { allKinds } from '../../api/kinds/index.ts';
import type { Store } from '../../store/contract.ts';
import type { SecretFiles } from '../../world/secret-files.ts';
import type { World } from '../../world/world.ts';
import { encryptedMarker } from '../apiserver/encrypted-marker.ts';
import type { CleanupStack } from '../cleanup-stack.ts';
import { openDataDirectory, storeDirectory } from './data-directory.ts';

interface OpenedData {
  readonly store: Store;
  /** The keys and certificates. */
  readonly files: SecretFiles;
  /** All keys exist. */
  readonly complete: () => Promise<void>;
  readonly writeProblem: () => string | undefined;
}

/** @throws StoreError, DataDamage, NewerData */
export async function openData(
  { dataDir, kind, world }: { readonly dataDir: string; readonly kind: 'memory' | 'embedded'; readonly world: World },
  cleanup: CleanupStack,
): Promise<OpenedData> {
  const data = await openDataDirectory({ dataDir, store: kind, world });
  if (kind === 'memory') {
    const store = (await import('../../store/memory/memory-store.ts')).openMemoryStore();
    cleanup.defer(() => store.close());
    return { store, writeProblem: () => undefined, ...(await data.keyFiles(undefined)) };
  }
  const { openEmbeddedStore } = await import('../../store/embedded/embedded-store.ts');
  const { realDisk } = await import('../../host/disk.ts');
  const store = await openEmbeddedStore({ ...data, directory: storeDirectory(dataDir), disk: realDisk, world });
  cleanup.defer(() => store.close());
  return { store, writeProblem: () => store.writeProblem(), ...(await data.keyFiles(store)) };
}

/** Loaded only if values are, or were, encrypted. */
export async function withEncryption(store: Store, configFile: string | undefined, { log }: World): Promise<Store> {
  if (configFile === undefined && (await store.get(encryptedMarker)) === undefined) return store;
  const { encryptedStore } = await import('../apiserver/encryption.ts');
  return encryptedStore(store, { configFile, kinds: allKinds, log });
}
