import { existsSync } from 'node:fs';
import path from 'node:path';
import type { NodeDriver, VolumeDriver } from '../../drivers/contract.ts';
import { imageDriver, imageDriverName, machineLabel } from '../../drivers/image/driver.ts';
import { imageNode, type ImageNodeOptions } from '../../drivers/image/node.ts';
import type { Host } from '../../node/host.ts';
import { realDirectories } from '../../host/directories.ts';
import { realImageDevices, realImages, whyNoImages } from '../../host/images.ts';
import { nodeDirectory } from './node-directory.ts';

/** Volumes that are image files of this machine, for the controllers and for the nodes on it. */
export interface ImageVolumes {
  readonly drivers: readonly VolumeDriver[];
  /** The node's part of the driver. */
  node(options: Omit<ImageNodeOptions, 'path' | 'devices'>): NodeDriver;
  /** The same host with the driver and its topology label. */
  withDriver(host: Host): Host;
}

/** For the nodes `node-1` to `node-<count>`. Undefined: this machine cannot have image volumes. */
export async function imageVolumes(directory: string, count: number): Promise<ImageVolumes | undefined> {
  if (whyNoImages() !== undefined) return undefined;
  const root = await nodeDirectory(directory);
  const images = realImages(root);
  const isHere = (node: string): boolean => Number(/^node-([1-9]\d*)$/.exec(node)?.[1] ?? Number.NaN) <= count;
  return {
    drivers: [imageDriver({ images, directories: realDirectories, root, isHere })],
    node: (options) => imageNode({ ...options, path: images.path, devices: realImageDevices }),
    withDriver: (host) => ({
      ...host,
      labels: { ...host.labels, [machineLabel.key]: machineLabel.value },
      drivers: [...host.drivers, { name: imageDriverName, nodeID: host.name, topologyKeys: [machineLabel.key] }],
    }),
  };
}

export const imageDirectory = (dataDir: string): string => path.join(dataDir, 'images');

/** The driver of the image volumes in the data directory of a `moor up` on this machine, for other processes; empty if it has none. */
export async function imageDriversOf(dataDir: string): Promise<readonly VolumeDriver[]> {
  const directory = imageDirectory(dataDir);
  if (!existsSync(directory)) return [];
  return (await imageVolumes(directory, Number.POSITIVE_INFINITY))?.drivers ?? [];
}
