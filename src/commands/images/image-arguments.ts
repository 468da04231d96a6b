import { existsSync } from 'node:fs';
import path from 'node:path';
import { type OpenedImages, openImages } from '../../cluster/image-content.ts';
import { createRealWorld } from '../../host/world.ts';
import { type FlagValues, UsageError } from '../command.ts';
import { recordOf } from '../life-cycle/cluster-argument.ts';

/** The images of the cluster that the arguments after `skipped` others name, or of a data directory, which may be a node's. @throws UsageError, NoSuchCluster */
export async function imagesOf(flags: FlagValues, skipped: number): Promise<OpenedImages> {
  return openImages(directoryOf(flags, skipped), { clock: createRealWorld({ logLevel: 'error' }).clock });
}

function directoryOf(flags: FlagValues, skipped: number): string {
  const given = flags.text('data-dir');
  if (given === undefined) return recordOf({ text: () => undefined, all: () => [], on: () => false, arguments: flags.arguments.slice(skipped) }).dataDir;
  if (flags.arguments.length > skipped) throw new UsageError('give a name or --data-dir, not both');
  if (!existsSync(given)) throw new UsageError(`--data-dir: there is no ${given}`);
  return path.resolve(given);
}

/** With the unit that reads best: '1.5 MiB'. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
