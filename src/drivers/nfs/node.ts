import {
  attempt,
  done,
  type DriverAnswer,
  type DriverFailure,
  failed,
  type NodeDriver,
  type NodePublishVolumeRequest,
  type NodePublishVolumeResponse,
  succeeded,
} from '../contract.ts';
import { exitMessage, type HostWithPrograms, mountByProgram } from '../mount/mount-program.ts';
import { mountAt, removeMountPoint } from '../mount/node-host.ts';

const fuseMs = 60_000;

/** kubernetes.io/nfs: mounted by the kernel's client, or by fuse-nfs if the kernel has none. */
export function nfsNode(host: HostWithPrograms): NodeDriver {
  return {
    capabilities: { name: 'kubernetes.io/nfs', stages: false, mountOptions: true, block: false, requiresRemount: false },
    nodePublishVolume: (request) => attempt(() => publish(host, request)),
    nodeUnpublishVolume: ({ target }) =>
      attempt(async () => {
        await removeMountPoint(host, target);
        return done;
      }),
  };
}

async function publish(host: HostWithPrograms, { volume, target }: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
  const { server = '', path = '' } = volume.source.nfs ?? {};
  const wrong = [server, path].find((each) => each.startsWith('-'));
  if (wrong !== undefined) return failed('InvalidArgument', `${JSON.stringify(wrong)} is invalid in an NFS export`);
  const source = `${server.includes(':') ? `[${server}]` : server}:${path}`;
  const options = [...new Set([...volume.mountOptions, ...(volume.readOnly ? ['ro'] : [])])].sort();
  const refused = (await kernelHasNfs(host)) ? await mountByProgram(host, { fileSystem: 'nfs', source, target, options }) : noClient;
  if (refused === undefined) return succeeded({ path: target });
  if (refused !== noClient) return refused;
  const still = await mountByFuse(host, { url: `nfs://${server}${path}${versionIn(options)}`, target, readOnly: volume.readOnly });
  return still ?? succeeded({ path: target });
}

const noClient = failed('FailedPrecondition', 'this kernel has no NFS client');

/** 4.1 and 4.2 are minor versions of 4. */
function versionIn(options: readonly string[]): string {
  const version = options.map((option) => /^(?:nfs)?vers=([34])/.exec(option)?.[1]).find((each) => each !== undefined);
  return version === undefined ? '' : `?version=${version}`;
}

/** Loads the kernel module if needed. */
async function kernelHasNfs({ files, programs }: HostWithPrograms): Promise<boolean> {
  const isKnown = async () => /\tnfs4?$/m.test(new TextDecoder().decode(await files.read('/proc/filesystems')));
  if (await isKnown()) return true;
  await programs.run('modprobe', ['nfs'], { timeoutMs: fuseMs });
  return isKnown();
}

interface FuseMount {
  readonly url: string;
  readonly target: string;
  readonly readOnly: boolean;
}

async function mountByFuse(host: HostWithPrograms, { url, target, readOnly }: FuseMount): Promise<DriverFailure | undefined> {
  if ((await mountAt(host, target)) !== undefined) return undefined;
  await host.files.makeDirectory(target, 0o750);
  const end = await host.programs.run('fuse-nfs', ['-n', url, '-m', target, ...(readOnly ? ['-o', 'ro'] : [])], { timeoutMs: fuseMs });
  if (end.type === 'exited' && end.code === 0 && (await mountAt(host, target)) !== undefined) return undefined;
  await removeMountPoint(host, target).catch(() => undefined);
  const install = end.type === 'failed' ? ' (install fuse-nfs, or a kernel with NFS and the package nfs-common)' : '';
  const output = end.type === 'exited' ? `: ${end.output.trim()}` : '';
  return failed('Internal', `mount failed: ${noClient.message}, and fuse-nfs did not help: ${exitMessage(end)}${output}${install}`);
}
