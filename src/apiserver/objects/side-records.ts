/** Records that the store keeps beside some objects and that change in the objects' transactions: epochs of Leases, addresses of Services. */
import type { Lease, Service } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { epochKey } from './fence.ts';
import type { Resource } from './resources.ts';
import { releaseAddresses } from './service-addresses.ts';
import type { TransactionDraft } from './transaction.ts';

const isLease = ({ kind }: Resource): boolean => kind.group === 'coordination.k8s.io' && kind.plural === 'leases';
const isService = ({ kind }: Resource): boolean => kind.group === '' && kind.plural === 'services';

const noBytes = new Uint8Array(0);

/** An object is stored. `old` is undefined if it is new. */
export function recordWrite(
  draft: TransactionDraft,
  resource: Resource,
  { object, old }: { readonly object: KubeObject; readonly old: KubeObject | undefined },
): void {
  if (!isLease(resource)) return;
  // Only a change of the holder begins an epoch: a renewal must not.
  const before = old === undefined ? '' : holderOf(old);
  if (holderOf(object) !== before) draft.putBytes(epochKeyOf(object), noBytes);
}

/** An object is removed. */
export function recordRemoval(draft: TransactionDraft, resource: Resource, object: KubeObject): void {
  if (isLease(resource)) draft.remove(epochKeyOf(object));
  if (isService(resource)) releaseAddresses(draft, object as Service);
}

const epochKeyOf = ({ metadata: { namespace = '', name = '' } }: KubeObject): string => epochKey(`${namespace}/${name}`);

const holderOf = (lease: KubeObject): string => (lease as Lease).spec.holderIdentity ?? '';
