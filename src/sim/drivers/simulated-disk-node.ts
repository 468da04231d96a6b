import { attempt, done, type NodeDriver, succeeded } from '../../drivers/contract.ts';
import { ensureBound, mountAt, type NodeHost, removeMountPoint, removeStaging } from '../../drivers/mount/node-host.ts';

/** The node service of the simulated disks: an attached disk is the device /dev/HANDLE. */
export function simulatedDiskNode(host: NodeHost, name: string): NodeDriver {
  return {
    capabilities: { name, stages: true, mountOptions: true, block: false, requiresRemount: false },
    nodeStageVolume: ({ volume, stagingPath }) =>
      attempt(async () => {
        await host.files.makeDirectory(stagingPath, 0o750);
        const image = `/dev/${volume.persistentVolume?.spec.csi?.volumeHandle ?? ''}`;
        if ((await mountAt(host, stagingPath)) === undefined)
          await host.mounts.mount({ type: 'image', image, target: stagingPath, fileSystem: 'ext4', options: [] });
        return done;
      }),
    nodeUnstageVolume: ({ stagingPath }) =>
      attempt(async () => {
        await removeStaging(host, stagingPath);
        return done;
      }),
    nodePublishVolume: ({ volume, stagingPath = '', target }) =>
      attempt(async () => {
        await ensureBound(host, { source: stagingPath, target, readOnly: volume.readOnly, options: volume.mountOptions });
        return succeeded({ path: target });
      }),
    nodeUnpublishVolume: ({ target }) =>
      attempt(async () => {
        await removeMountPoint(host, target);
        return done;
      }),
  };
}
