import { done, type DriverAnswer, failed } from '../contract.ts';
import { diskFormat } from './format-and-mount.ts';
import { exitMessage, type HostWithPrograms } from './mount-program.ts';

export interface MountedDisk {
  readonly device: string;
  /** Where it is mounted. */
  readonly target: string;
}

/** Large file systems take long. */
const resizeMs = 600_000;

/** The kubelet's ResizeFs (v1.36.4): the file system takes all of its disk. One that does already stays as it is. */
export async function resizeFileSystem(host: HostWithPrograms, { device, target }: MountedDisk): Promise<DriverAnswer<undefined>> {
  const found = await diskFormat(host, device);
  if (!found.ok) return found;
  const program = programs[found.value]?.({ device, target });
  if (program === undefined) return failed('InvalidArgument', `resize of format ${found.value} is not supported for device ${device} mounted at ${target}`);
  const [name, ...args] = program;
  const end = await host.programs.run(name, args, { timeoutMs: resizeMs });
  if (end.type === 'exited' && end.code === 0) return done;
  return failed('Internal', `resize of device ${device} failed: ${exitMessage(end)}. ${name} output: ${end.type === 'exited' ? end.output : ''}`);
}

type Resizer = (disk: MountedDisk) => readonly [string, ...string[]];
const ext: Resizer = ({ device }) => ['resize2fs', device];

const programs: Readonly<Record<string, Resizer>> = {
  ext3: ext,
  ext4: ext,
  xfs: ({ target }) => ['xfs_growfs', '-d', target],
  btrfs: ({ target }) => ['btrfs', 'filesystem', 'resize', 'max', target],
};
