import { existsSync } from 'node:fs';
import { loadArchive, type LoadedImage } from '../../node/images/load-archive.ts';
import { type Command, type FlagValues, UsageError } from '../command.ts';
import { dataDirFlag, NoSuchCluster } from '../life-cycle/cluster-argument.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { imagesOf, sizeText } from './image-arguments.ts';

/** `moor load`: images of an archive into the content store of a cluster. */
export const loadCommand: Command = {
  about: `Loads the images of an archive: what "docker save" or "podman save" writes, or an OCI image layout as a tar file; plain, or
compressed with gzip or zstd. Containers that name such an image run on its files, with its entrypoint, variables, user and
working directory, from then on and without a restart of the cluster. Their layers are unpacked once. A broken or hostile
archive is refused, and changes nothing. Needs root.`,
  arguments: { usage: 'FILE [NAME]', about: 'the archive; the name of the cluster, as "moor list" shows it', least: 1, most: 2 },
  flags: [{ name: 'tag', value: 'IMAGE', about: 'the name of the image, instead of that in the archive' }, dataDirFlag, outputFlag],
  examples: [
    { line: 'docker save postgres:18 -o postgres.tar && moor load postgres.tar', about: 'run a real PostgreSQL' },
    { line: 'moor load layout.tar.gz --tag registry.local/app:1', about: 'an archive without a name in it' },
  ],
  run: runLoad,
};

async function runLoad(flags: FlagValues): Promise<ExitCode> {
  const [file = ''] = flags.arguments;
  if (!existsSync(file)) throw new UsageError(`there is no file ${file}`);
  try {
    const { images, close } = await imagesOf(flags, 1);
    try {
      const loaded = await loadArchive(file, images, flags.text('tag'));
      printData(outputOf(flags), loaded, textOf);
      return exitCodes.success;
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const subject = error instanceof NoSuchCluster ? '' : `${file}: `;
    process.stderr.write(`moor load: ${subject}${(error as Error).message}\n`);
    return exitCodes.failure;
  }
}

const textOf = (images: readonly LoadedImage[]): string =>
  images.map(({ name, digest, size }) => `Loaded ${name} (${digest.slice(0, 19)}, ${sizeText(size)})\n`).join('');
