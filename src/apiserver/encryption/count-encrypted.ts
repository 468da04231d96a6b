import type { Store } from '../../store/contract.ts';
import { looksEncrypted } from './providers.ts';

const page = 1_000;

/** The number of values by the key that encrypted them, told by their prefix: 'k8s:enc:aescbc:v1:key1:'. None is decrypted. */
export async function countEncryptedValues(store: Store): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const revision = store.revision();
  for (let from = '/registry/'; ; ) {
    const { entries, remaining } = await store.range({ from, to: '/registry0', revision, limit: page });
    for (const { value } of entries) {
      if (!looksEncrypted(value)) continue;
      const prefix = prefixOf(value);
      found.set(prefix, (found.get(prefix) ?? 0) + 1);
    }
    const last = entries.at(-1);
    if (remaining === 0 || last === undefined) return found;
    from = `${last.key}\0`;
  }
}

function prefixOf(value: Uint8Array): string {
  const head = Buffer.from(value.subarray(0, 400)).toString('latin1');
  return head.split(':', 5).join(':') + (head.split(':').length > 5 ? ':' : '');
}
