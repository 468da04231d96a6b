import { type DriverAnswer, type DriverFailure, failed, type NodeDriver, type PublishedVolume, type PublishToPodRequest } from '../contract.ts';
import { type HostWithPrograms, mountByProgram, wordsFor } from '../files/mount-program.ts';
import { attempt, mountAt, removePlace } from '../files/node-host.ts';

const fuseMs = 60_000;

/** Exports of an NFS server: kubernetes.io/nfs. By the kernel's client, or by fuse-nfs where the kernel has none. */
export function nfsNode(host: HostWithPrograms): NodeDriver {
  return {
    facts: { name: 'kubernetes.io/nfs', stages: false, mountOptions: true, block: false, follows: false },
    publish: (request) => attempt(() => publish(host, request)),
    unpublish: ({ target }) =>
      attempt(async () => {
        await removePlace(host, target);
        return { ok: true, value: undefined };
      }),
  };
}

async function publish(host: HostWithPrograms, { volume, target }: PublishToPodRequest): Promise<DriverAnswer<PublishedVolume>> {
  const { server = '', path = '' } = volume.source.nfs ?? {};
  const wrong = [server, path].find((each) => each.startsWith('-'));
  if (wrong !== undefined) return failed('InvalidArgument', `${JSON.stringify(wrong)} is no part of an NFS export`);
  const source = `${server.includes(':') ? `[${server}]` : server}:${path}`;
  const options = [...new Set([...volume.mountOptions, ...(volume.readOnly ? ['ro'] : [])])].sort();
  const refused = await mountByProgram(host, { fileSystem: 'nfs', source, target, options });
  if (refused === undefined) return { ok: true, value: { path: target } };
  if (await kernelHasNfs(host)) return refused;
  const still = await mountByFuse(host, { url: `nfs://${server}${path}`, target, readOnly: volume.readOnly }, refused);
  return still ?? { ok: true, value: { path: target } };
}

/** Asked only after the kernel had its chance to load what it has. */
async function kernelHasNfs({ files }: HostWithPrograms): Promise<boolean> {
  const known = await files.read('/proc/filesystems').catch(() => new Uint8Array());
  return /\tnfs4?$/m.test(new TextDecoder().decode(known));
}

interface FuseMount {
  readonly url: string;
  readonly target: string;
  readonly readOnly: boolean;
}

async function mountByFuse(host: HostWithPrograms, { url, target, readOnly }: FuseMount, refused: DriverFailure): Promise<DriverFailure | undefined> {
  await host.files.makeDirectory(target, 0o750);
  const end = await host.programs.run('fuse-nfs', ['-n', url, '-m', target, ...(readOnly ? ['-o', 'ro'] : [])], { timeoutMs: fuseMs });
  if (end.type === 'exited' && end.code === 0 && (await mountAt(host, target)) !== undefined) return undefined;
  await removePlace(host, target).catch(() => undefined);
  const output = end.type === 'exited' ? `: ${end.output.trim()}` : '';
  return failed(refused.code, `${refused.message}this kernel has no NFS client, and fuse-nfs did not help: ${wordsFor(end)}${output}`);
}
