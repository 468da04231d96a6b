import { existsSync } from 'node:fs';
import path from 'node:path';
import type { NodeDriver, VolumeDriver } from '../../drivers/contract.ts';
import { imageDriver, imageDriverName, machineLabel } from '../../drivers/image/driver.ts';
import { imageNode, type ImageNodeOptions } from '../../drivers/image/node.ts';
import type { Host } from '../../node/host.ts';
import { realDirectories } from '../../host/directories.ts';
import { realImageDevices, realImages, whyNoImages } from '../../host/images.ts';
import { sha256 } from '../sha256.ts';
import { nodeDirectory } from './node-directory.ts';

/** Volumes that are image files of this machine, for the controllers and for the nodes on it. */
export interface ImageVolumes {
  readonly driver: VolumeDriver;
  /** The node's part of the driver. */
  node(options: Omit<ImageNodeOptions, 'path' | 'devices' | 'node'>): NodeDriver;
  /** The same host with the driver and its topology label. */
  withDriver(host: Host): Host;
}

/** Which nodes of the cluster see the images of a directory. */
interface ImageNodes {
  /** The node that joined; undefined: the nodes in the process of `moor up`. */
  readonly node: string | undefined;
  readonly isHere: (node: string) => boolean;
}

/** For the nodes `node-1` to `node-<count>`. Undefined: this machine cannot have image volumes. */
export const imageVolumes = (directory: string, count: number): Promise<ImageVolumes | undefined> =>
  openImages(directory, { node: undefined, isHere: isNodeOfMoorUp(count) });

export const isNodeOfMoorUp =
  (count: number) =>
  (node: string): boolean =>
    Number(/^node-([1-9]\d*)$/.exec(node)?.[1] ?? Number.NaN) <= count;

/** Of a node that joined the cluster. Undefined: this machine cannot have image volumes. */
export const nodeImageVolumes = (directory: string, node: string): Promise<ImageVolumes | undefined> =>
  openImages(directory, { node, isHere: (name) => name === node });

async function openImages(directory: string, { node, isHere }: ImageNodes): Promise<ImageVolumes | undefined> {
  if (whyNoImages() !== undefined) return undefined;
  const root = await nodeDirectory(directory);
  const images = realImages(root);
  const machine = machineOf(node);
  return {
    driver: imageDriver({ images, directories: realDirectories, root, isHere, machine, ...(node === undefined ? {} : { node }) }),
    node: (options) => imageNode({ ...options, node, path: images.path, devices: realImageDevices }),
    withDriver: (host) => ({
      ...host,
      labels: { ...host.labels, [machineLabel]: machine },
      drivers: [...host.drivers, { name: imageDriverName, nodeID: host.name, topologyKeys: [machineLabel] }],
    }),
  };
}

/** The value of `machineLabel`. No node that joins can have the one of `moor up`. */
export function machineOf(node: string | undefined): string {
  if (node === undefined) return 'this';
  const value = `node.${node}`;
  return value.length <= 63 ? value : `node.${sha256(node).slice(0, 32)}`;
}

export const imageDirectory = (dataDir: string): string => path.join(dataDir, 'images');

/** The driver of the image volumes in the data directory of a `moor up` on this machine, for other processes; undefined if it has none. */
export async function imageDriverIn(dataDir: string): Promise<VolumeDriver | undefined> {
  const directory = imageDirectory(dataDir);
  return existsSync(directory) ? (await openImages(directory, { node: undefined, isHere: () => true }))?.driver : undefined;
}
