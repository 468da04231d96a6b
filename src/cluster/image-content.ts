import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { LayerThreads } from '../host/layers/layer-threads.ts';
import { ContentStore } from '../node/images/content-store.ts';
import { ImageCollector } from '../node/images/image-collector.ts';
import { ImageStore } from '../node/images/image-store.ts';
import { ImageError, platformOfMachine } from '../node/images/manifest.ts';
import type { LayerUnpacker } from '../node/images/unpacker.ts';
import { type ImageManager, LoadedImages } from '../node/images/image-manager.ts';
import { PulledImages } from '../node/images/registry/pulled-images.ts';
import type { Clock, World } from '../world/world.ts';

/** The bytes that images may take, unless a flag says otherwise. */
export const usualImageLimit = 50 * 1024 ** 3;

export interface ImageSettings {
  /** What an image that was not loaded stands for. */
  readonly source: 'host' | 'registry';
  /** Base addresses, by the registry's name. */
  readonly mirrors: ReadonlyMap<string, readonly string[]>;
}

export interface OpenedImages {
  readonly images: ImageStore;
  readonly close: () => Promise<void>;
}

export interface NodeImages {
  readonly manager: ImageManager;
  /** It follows the runtimes of all nodes that have these images, and is started afterwards. */
  readonly collector: ImageCollector;
  readonly close: () => Promise<void>;
}

/** The images of the nodes of a data directory. `settings` absent: only loaded images, and the host's programs. */
export async function openImageManager(dataDir: string, { clock, timers, log }: World, settings: ImageSettings | undefined): Promise<NodeImages> {
  const { images, close: closeStore } = await openImages(dataDir, { clock });
  const collector = new ImageCollector({ images, timers, log });
  const close = async (): Promise<void> => {
    await collector.stop();
    await closeStore();
  };
  const manager =
    settings?.source === 'registry'
      ? new PulledImages({ images, clock, timers, platform: platformOfMachine(process.arch), mirrors: settings.mirrors })
      : new LoadedImages(images);
  return { manager, collector, close };
}

/** The images of a data directory. Several processes may have it open. */
export async function openImages(
  dataDir: string,
  { clock, limit = usualImageLimit }: { readonly clock: Clock; readonly limit?: number | undefined },
): Promise<OpenedImages> {
  const content = new ContentStore({ directory: path.join(dataDir, 'content'), limit, now: () => clock.now() });
  await content.open();
  const unpacker: LayerUnpacker = new LayerThreads(fileURLToPath(new URL('../main/container-shim.js', import.meta.url)), (message) => new ImageError(message));
  const images = new ImageStore({ content, unpacker, platform: platformOfMachine(process.arch), now: () => clock.now() });
  return { images, close: () => unpacker.close() };
}
