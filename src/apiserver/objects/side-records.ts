/** What the store keeps beside some objects and what changes in the same transactions: epochs of leases, addresses of services. */
import type { Service } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { recordLeaseHolder, removeLeaseEpoch } from './fence.ts';
import type { Resource } from './resources.ts';
import { releaseAddresses } from './service-addresses.ts';
import type { TransactionDraft } from './transaction.ts';

const isLease = ({ kind }: Resource): boolean => kind.group === 'coordination.k8s.io' && kind.plural === 'leases';
const isService = ({ kind }: Resource): boolean => kind.group === '' && kind.plural === 'services';

/** An object is stored. `old` is undefined if it is new. */
export function recordWrite(
  draft: TransactionDraft,
  resource: Resource,
  { object, old }: { readonly object: KubeObject; readonly old: KubeObject | undefined },
): void {
  if (isLease(resource)) recordLeaseHolder(draft, object, old);
}

/** An object is removed. */
export function recordRemoval(draft: TransactionDraft, resource: Resource, object: KubeObject): void {
  if (isLease(resource)) removeLeaseEpoch(draft, object);
  if (isService(resource)) releaseAddresses(draft, object as Service);
}
