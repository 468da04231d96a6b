/** The content store of a test, with real threads that unpack layers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { LayerThreads } from '../../src/host/layers/layer-threads.ts';
import { ContentStore } from '../../src/node/images/content-store.ts';
import { ImageStore } from '../../src/node/images/image-store.ts';
import { ImageError, platformOfMachine } from '../../src/node/images/manifest.ts';
import type { LayerUnpacker } from '../../src/node/images/unpacker.ts';

export interface TestImages {
  readonly directory: string;
  readonly images: ImageStore;
  readonly unpacker: LayerUnpacker;
  /** Moves the store's clock. */
  pass(ms: number): void;
  dispose(): Promise<void>;
}

/** `prepare` gets the directory before the store is opened in its folder `content`. */
export async function testImages(limit = 2 ** 33, prepare?: (directory: string) => void): Promise<TestImages> {
  const directory = mkdtempSync(path.join(tmpdir(), 'moor-images-'));
  prepare?.(directory);
  // Where it finds packages.
  const program = path.join(process.cwd(), 'node_modules', `.moor-layers-${path.basename(directory)}.mjs`);
  const bundle = await rolldown({ input: 'src/commands/container-shim.ts', platform: 'node', external: /^[^./]/ });
  await bundle.write({ file: program, codeSplitting: false });
  let passed = 0;
  const now = (): number => Date.now() + passed;
  const content = new ContentStore({ directory: path.join(directory, 'content'), limit, now });
  await content.open();
  const unpacker = new LayerThreads(program, (message) => new ImageError(message));
  return {
    directory,
    unpacker,
    images: new ImageStore({ content, unpacker, platform: platformOfMachine(process.arch), now }),
    pass: (ms) => void (passed += ms),
    async dispose() {
      await unpacker.close();
      rmSync(directory, { recursive: true, force: true });
      rmSync(program, { force: true });
    },
  };
}
