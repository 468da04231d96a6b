/**
 * Fencing (docs/ARCHITECTURE.md): every lease has an epoch key beside it, rewritten in the transaction that changes the lease's
 * holder and in no other. The key's revision is the holder's epoch, and equals the resourceVersion of the Lease that this
 * write returned. A write under a fence compares the key, so a leader that was replaced cannot write, however slow its clock.
 */
import type { Lease } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { TransactionDraft } from './transaction.ts';

const nothing = new Uint8Array(0);

/** `lease`: 'kube-system/moor-controllers'. Outside /registry/: it is no object. */
export const epochKey = (lease: string): string => `/mooring/epochs/${lease}`;

/** Adds the new epoch to the draft of a lease's write if the write changes who holds it. */
export function recordLeaseHolder(draft: TransactionDraft, lease: KubeObject, old: KubeObject | undefined): void {
  const { namespace = '', name = '' } = lease.metadata;
  const before = old === undefined ? '' : holderOf(old);
  if (holderOf(lease) !== before) draft.putBytes(epochKey(`${namespace}/${name}`), nothing);
}

/** A lease that is gone has no leader. */
export function removeLeaseEpoch(draft: TransactionDraft, lease: KubeObject): void {
  const { namespace = '', name = '' } = lease.metadata;
  draft.remove(epochKey(`${namespace}/${name}`));
}

const holderOf = (lease: KubeObject): string => (lease as Lease).spec.holderIdentity ?? '';
