import { createHash } from 'node:crypto';
import { namespaceKind } from '../api/kinds/namespace.ts';
import type { VolumeDriver } from '../drivers/contract.ts';
import { DriverSet } from '../drivers/driver-set.ts';
import { hostPathDriver } from '../drivers/host-path/driver.ts';
import type { Client } from '../machinery/client.ts';
import { realDirectories } from './real-directories.ts';

/**
 * The drivers of this machine, for the cluster that the client reaches: the uid of its kube-system tells it from others. `more`: those
 * behind which there is nothing.
 */
export async function realDrivers(client: Client, more: readonly VolumeDriver[] = []): Promise<DriverSet> {
  const system = await client.get(namespaceKind, { name: 'kube-system' });
  if (!system.ok) throw system.error;
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  return new DriverSet([hostPathDriver({ directories: realDirectories, sha256, cluster: system.value.metadata.uid ?? '' }), ...more]);
}
