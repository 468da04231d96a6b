/** Records that the store keeps beside some objects and that change in the objects' transactions: epochs of Leases, addresses of Services. */
import type { Lease, Service } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import { epochKey } from './fence.ts';
import type { Resource, Resources } from './resources.ts';
import { recordClusterIps, releaseAddresses } from './service-addresses.ts';
import type { TransactionDraft } from './transaction.ts';
import type { World } from '../../world/world.ts';

const isLease = ({ kind }: Resource): boolean => kind.group === 'coordination.k8s.io' && kind.plural === 'leases';
const isService = ({ kind }: Resource): boolean => kind.group === '' && kind.plural === 'services';

const noBytes = new Uint8Array(0);

export interface StoredWrite {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** undefined: the object is new. */
  readonly old: KubeObject | undefined;
}

/** An object is stored. */
export function recordWrite(
  draft: TransactionDraft,
  { resources, world }: { readonly resources: Resources; readonly world: World },
  { resource, object, old }: StoredWrite,
): void {
  if (isService(resource)) {
    const ipAddresses = resources.find('networking.k8s.io/v1', 'ipaddresses');
    if (ipAddresses !== undefined) recordClusterIps(draft, { service: object as Service, old: old as Service | undefined, ipAddresses, world });
  }
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
