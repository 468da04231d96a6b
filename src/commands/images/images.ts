import { fullName } from '../../node/images/load-archive.ts';
import type { NamedImage } from '../../node/images/image-store.ts';
import type { Command, FlagValues } from '../command.ts';
import { clusterArgument, dataDirFlag, NoSuchCluster } from '../life-cycle/cluster-argument.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { imagesOf, sizeText } from './image-arguments.ts';

/** `moor images`: the images of a cluster. */
export const imagesCommand: Command = {
  about: `Lists the images of a cluster on this machine. An image that is listed as broken is not whole, or not for this machine: load it again.`,
  arguments: clusterArgument,
  flags: [{ name: 'remove', value: 'IMAGE', about: 'remove the name; its blobs and layers go once no container uses them' }, dataDirFlag, outputFlag],
  examples: [
    { line: 'moor images', about: 'those of the cluster of "moor up"' },
    { line: 'moor images --remove postgres:18', about: 'containers that name it are refused from then on' },
  ],
  run: runImages,
};

interface ListedImage extends NamedImage {
  /** Of its blobs; null: it is broken. */
  readonly size: number | null;
  readonly problem: string | null;
}

async function runImages(flags: FlagValues): Promise<ExitCode> {
  try {
    const { images, close } = await imagesOf(flags, 0);
    try {
      const removed = flags.text('remove');
      if (removed !== undefined) {
        if (await images.untag(fullName(removed))) return exitCodes.success;
        process.stderr.write(`moor images: there is no image ${fullName(removed)}\n`);
        return exitCodes.failure;
      }
      const listed = await Promise.all(
        (await images.names()).map(async (named): Promise<ListedImage> => {
          try {
            const { manifest } = await images.resolve(named.digest, named.name);
            return { ...named, size: manifest.layers.reduce((sum, { size }) => sum + size, manifest.config.size), problem: null };
          } catch (error) {
            return { ...named, size: null, problem: (error as Error).message };
          }
        }),
      );
      printData(outputOf(flags), listed, textOf);
      return exitCodes.success;
    } finally {
      await close();
    }
  } catch (error) {
    if (!(error instanceof NoSuchCluster) && !(error instanceof Error && 'code' in error)) throw error;
    process.stderr.write(`moor images: ${error.message}\n`);
    return exitCodes.failure;
  }
}

function textOf(images: readonly ListedImage[]): string {
  if (images.length === 0) return 'No images. "moor load FILE" loads the images of an archive.\n';
  const width = Math.max(5, ...images.map(({ name }) => name.length));
  const lines = images.map(({ name, digest, size, problem }) => `${name.padEnd(width)}   ${digest.slice(7, 19)}   ${problem ?? sizeText(size ?? 0)}\n`);
  return `${'IMAGE'.padEnd(width)}   DIGEST         SIZE\n${lines.join('')}`;
}
