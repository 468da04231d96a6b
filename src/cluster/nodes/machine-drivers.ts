import { access, constants } from 'node:fs/promises';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import type { VolumeDriver } from '../../drivers/contract.ts';
import { DriverSet } from '../../drivers/driver-set.ts';
import { hostPathDriver, hostPathEnding, usualRoot } from '../../drivers/host-path/driver.ts';
import type { Client } from '../../client/client.ts';
import type { Transport } from '../../client/transport.ts';
import { realDirectories } from '../../host/directories.ts';
import { sha256 } from '../sha256.ts';

/** The drivers of this machine, for the cluster that the client reaches. */
export async function machineDrivers(client: Client, more: readonly VolumeDriver[] = []): Promise<DriverSet> {
  return new DriverSet([hostPathDriver({ directories: realDirectories, sha256, cluster: await clusterOf(client), root: await usableRoot() }), ...more]);
}

/** The uid of the kube-system Namespace tells clusters apart. */
async function clusterOf(client: Client): Promise<string> {
  const system = await client.get(namespaceKind, { name: 'kube-system' });
  if (!system.ok) throw system.error;
  return system.value.metadata.uid;
}

/** Where the host-path volumes of a cluster are on this machine: in a directory that all clusters share. */
export interface HostPathVolumes {
  readonly root: string;
  /** With which the names of its volumes end. */
  readonly ending: string;
}

export const hostPathVolumes = async (client: Client): Promise<HostPathVolumes> => ({
  root: await usableRoot(),
  ending: hostPathEnding(sha256, await clusterOf(client)),
});

/**
 * The drivers of a `moor up` on this machine that keep volumes in its data directory. Loaded only if a data directory is given. `transport`: by
 * which the image volumes of nodes that joined are reached; absent: only this machine's are needed.
 */
export async function imageDriversIn(dataDir: string | undefined, transport?: Transport): Promise<readonly VolumeDriver[]> {
  if (dataDir === undefined) return [];
  const own = await (await import('./image-volumes.ts')).imageDriverIn(dataDir);
  if (own === undefined) return [];
  return [transport === undefined ? own : (await import('./joined-node-images.ts')).imageDriverByProxy(own, transport)];
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
