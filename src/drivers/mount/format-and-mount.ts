import type { ProgramResult } from '../../world/programs.ts';
import { attempt, done, type DriverFailure, failed, succeeded } from '../contract.ts';
import { exitMessage, type HostWithPrograms } from './mount-program.ts';
import { mountOnce } from './node-host.ts';

export interface DiskMount {
  readonly device: string;
  readonly target: string;
  /** '' is ext4. */
  readonly fileSystem: string;
  /** Of mount -o. With 'ro', nothing is written to the disk. */
  readonly options: readonly string[];
}

/** Large disks take long. */
const formatMs = 600_000;
const checkMs = 600_000;
const lookMs = 30_000;

/**
 * The kubelet's SafeFormatAndMount (v1.36.4): formats a blank disk, checks an existing file system, then mounts it, unless it is mounted.
 * Undefined: it is mounted. A disk with other data, such as partitions, is never formatted.
 */
export function formatAndMount(host: HostWithPrograms, disk: DiskMount): Promise<DriverFailure | undefined> {
  const { device, target, options } = disk;
  const fileSystem = disk.fileSystem === '' ? 'ext4' : disk.fileSystem;
  return mountOnce(host, target, async () => {
    // Becomes part of a program's name.
    if (!/^[a-z0-9][a-z0-9.-]*$/.test(fileSystem)) return failed('InvalidArgument', `${JSON.stringify(fileSystem)} is not a file system type`);
    const refused = await prepare(host, { ...disk, fileSystem });
    if (refused !== undefined) return refused;
    const mounted = await attempt(async () => {
      await host.mounts.mount({ type: 'file-system', fileSystem, source: device, target, options });
      return done;
    });
    return mounted.ok ? undefined : mounted;
  });
}

async function prepare(host: HostWithPrograms, { device, target, fileSystem, options }: DiskMount): Promise<DriverFailure | undefined> {
  const found = await diskFormat(host, device);
  if (!found.ok) return found;
  const isReadOnly = options.includes('ro');
  if (found.value !== '') return isReadOnly ? undefined : check(host, device);
  if (isReadOnly) return failed('FailedPrecondition', `cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`);
  const end = await host.programs.run(`mkfs.${fileSystem}`, [...(formatFlags[fileSystem] ?? []), device], { timeoutMs: formatMs });
  if (isFine(end)) return undefined;
  const listed = `[${options.map((option) => JSON.stringify(option)).join(' ')}]`;
  const about = `format of disk ${JSON.stringify(device)} failed: type:(${JSON.stringify(fileSystem)}) target:(${JSON.stringify(target)}) options:(${listed})`;
  return failed('Internal', `${about} errcode:(${exitMessage(end)}) output:(${outputOf(end)}) `);
}

/** Force: without a terminal they cannot ask. -m0: no blocks reserved for root. */
const formatFlags: Readonly<Record<string, readonly string[]>> = { ext3: ['-F', '-m0'], ext4: ['-F', '-m0'], xfs: ['-f'] };

/** '': the disk is blank. */
export async function diskFormat({ programs }: HostWithPrograms, device: string): Promise<{ readonly ok: true; readonly value: string } | DriverFailure> {
  const end = await programs.run('blkid', ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device], { timeoutMs: lookMs });
  if (end.type === 'exited' && end.code === nothingFound) return succeeded('');
  if (!isFine(end)) return failed('Internal', `failed to get disk format of disk ${device}: ${exitMessage(end)}`);
  const said = new Map(
    outputOf(end)
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
  );
  if (said.has('PTTYPE')) return succeeded('unknown data, probably partitions');
  return succeeded(said.get('TYPE') ?? '');
}

/** Of blkid(8). */
const nothingFound = 2;
/** Of fsck(8): errors left uncorrected. After any other exit code the mount is tried, as in the kubelet. */
const uncorrected = 4;

async function check({ programs }: HostWithPrograms, device: string): Promise<DriverFailure | undefined> {
  const end = await programs.run('fsck', ['-a', device], { timeoutMs: checkMs });
  if (end.type !== 'exited' || end.code !== uncorrected) return undefined;
  return failed('Internal', `'fsck' found errors on device ${device} but could not correct them: ${end.output}`);
}

const isFine = (end: ProgramResult): boolean => end.type === 'exited' && end.code === 0;
const outputOf = (end: ProgramResult): string => (end.type === 'exited' ? end.output : '');
