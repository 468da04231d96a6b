import { realpathSync } from 'node:fs';
import path from 'node:path';
import { shownTreeOf } from '../node/runtimes/sandbox/host-image.ts';
import { type FlagValues, UsageError } from './command.ts';

/**
 * The absolute path of a file or directory with keys or data of a cluster. Containers see the host's programs and libraries where they lie: the path must not lie
 * there, also not by a link.
 *
 * @throws UsageError
 */
export function privatePath(flag: string, file: string): string {
  const resolved = path.resolve(file);
  if (path.dirname(resolved) === resolved) throw new UsageError(`--${flag} must not be ${resolved}, the root of the file system`);
  const tree = shownTreeOf(resolved) ?? shownTreeOf(realPathOf(resolved));
  if (tree === undefined) return resolved;
  throw new UsageError(
    `--${flag} must not be in ${tree}, which every container on this machine sees: ${file}. Choose a path elsewhere, such as /var/lib/mooring.`,
  );
}

/** --root-dir. @throws UsageError */
export function rootDirOf(flags: FlagValues): string | undefined {
  const given = flags.text('root-dir');
  return given === undefined ? undefined : privatePath('root-dir', given);
}

/** What does not exist yet is appended as given. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(realPathOf(parent), path.basename(file));
  }
}
