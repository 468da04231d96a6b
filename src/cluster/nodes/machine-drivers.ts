import { access, constants } from 'node:fs/promises';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import type { VolumeDriver } from '../../drivers/contract.ts';
import { DriverSet } from '../../drivers/driver-set.ts';
import { hostPathDriver, usualRoot } from '../../drivers/host-path/driver.ts';
import type { Client } from '../../client/client.ts';
import { realDirectories } from '../../host/directories.ts';
import { sha256 } from '../sha256.ts';

/** The drivers of this machine, for the cluster that the client reaches: the uid of its kube-system Namespace tells clusters apart. */
export async function machineDrivers(client: Client, more: readonly VolumeDriver[] = []): Promise<DriverSet> {
  const system = await client.get(namespaceKind, { name: 'kube-system' });
  if (!system.ok) throw system.error;
  const cluster = system.value.metadata.uid;
  return new DriverSet([hostPathDriver({ directories: realDirectories, sha256, cluster, root: await usableRoot() }), ...more]);
}

/** The drivers of a `moor up` on this machine that keep volumes in its data directory. Loaded only if a data directory is given. */
export async function imageDriversIn(dataDir: string | undefined): Promise<readonly VolumeDriver[]> {
  return dataDir === undefined ? [] : (await import('./image-volumes.ts')).imageDriversOf(dataDir);
}

/** The default root, unless another user owns it: it lies in a directory that every user can write. */
async function usableRoot(): Promise<string> {
  try {
    await access(usualRoot, constants.W_OK | constants.X_OK);
    return usualRoot;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? usualRoot : `${usualRoot}-${process.getuid?.() ?? 0}`;
  }
}
