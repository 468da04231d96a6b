import { existsSync } from 'node:fs';
import path from 'node:path';
import type { NodeDriver, VolumeDriver } from '../../drivers/contract.ts';
import { imageDriver, imageDriverName, machineLabel } from '../../drivers/image/driver.ts';
import { imageNode, type ImageNodeOptions } from '../../drivers/image/node.ts';
import type { Host } from '../../node/host.ts';
import { realDirectories } from '../../host/directories.ts';
import { realImageDevices, realImages, whyNoImages } from '../../host/images.ts';
import { nodeDirectory } from './sandbox-nodes.ts';

/** Volumes that are images of this machine, for the controllers and for the nodes that are on it. */
export interface ImageVolumes {
  readonly drivers: readonly VolumeDriver[];
  /** What a node does that mounts them. */
  node(options: Omit<ImageNodeOptions, 'path' | 'devices'>): NodeDriver;
  /** A node that can. */
  withDriver(host: Host): Host;
}

/** For the nodes `node-1` to `node-<count>`. Undefined: this machine can have none. */
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

/** The driver of the images that a `moor up` on this machine has in its data directory, for other processes; none if it has none. */
export async function imageDriversOf(dataDir: string): Promise<readonly VolumeDriver[]> {
  const directory = imageDirectory(dataDir);
  if (!existsSync(directory)) return [];
  return (await imageVolumes(directory, Number.POSITIVE_INFINITY))?.drivers ?? [];
}
