/** Volume types that other programs mount or fill: nfs, glusterfs, gitRepo. */
import { describe, expect, test } from 'vitest';
import type { Endpoints, Pod } from '../api/generated/types.ts';
import { Machine, SimulatedHost } from '../sim/host/simulated-host.ts';
import type { ProgramOptions, ProgramResult, Programs } from '../world/programs.ts';
import { describeNodeDriver, type DriverUnderTest } from './conformance.ts';
import type { NodeDriver, SourceOnNode } from './contract.ts';
import type { HostWithPrograms } from './mount/mount-program.ts';
import type { NodeHost } from './mount/node-host.ts';
import { gitRepoNode } from './git-repo/node.ts';
import { glusterfsNode } from './glusterfs/node.ts';
import { nfsNode } from './nfs/node.ts';

const fine: ProgramResult = { type: 'exited', code: 0, output: '' };
const clock = { now: () => 0, monotonic: () => 0 };
const endpoints = { metadata: {}, subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }, { ip: 'fd00::1' }] }] } as unknown as Endpoints;
const gluster = (host: HostWithPrograms) =>
  glusterfsNode({ ...host, endpoints: async (_, name) => ({ ok: true, value: name === 'servers' ? endpoints : undefined }) });

async function mountExport(mounts: NodeHost['mounts'], args: readonly string[]): Promise<void> {
  const target = args.at(-1) ?? '';
  await mounts.mount({ type: 'bind', source: '/exports/data', target, recursive: false });
  if (args.some((arg) => arg.split(',').includes('ro'))) await mounts.mount({ type: 'options', target, options: ['ro'] });
}

/** Simulated mount(8) and git. */
const simulated = ({ mounts, files }: NodeHost): Programs => ({
  run: async (file, args, { directory = '' }) => {
    if (file === 'mount') await mountExport(mounts, args);
    if (file === 'git') await files.makeDirectory(`${directory}/repo/.git`, 0o755);
    return fine;
  },
});

function describeSimulated(name: string, make: (host: HostWithPrograms) => NodeDriver, under: Omit<DriverUnderTest, 'machine' | 'make'>): void {
  describeNodeDriver(name, {
    ...under,
    machine: () => {
      const machine = new Machine();
      return { host: (hooks = {}) => new SimulatedHost(machine, hooks) };
    },
    prepare: async ({ files }) => {
      await files.makeDirectory('/proc', 0o755);
      await files.write('/proc/filesystems', new TextEncoder().encode('nodev\tnfs\n'), 0o444);
    },
    make: async (host) => make({ ...host, programs: simulated(host) }),
  });
}

const nfs = { source: { nfs: { server: 'nfs.example.com', path: '/exports/data' } } };
const shared = { data: '/exports/data', content: 'outlives pods', readOnly: 'driver' } as const;
describeSimulated('nfs', nfsNode, { volume: nfs, ...shared });
describeSimulated('glusterfs', gluster, { volume: { source: { glusterfs: { endpoints: 'servers', path: 'vol' } } }, ...shared });
const gitRepo = (host: HostWithPrograms) => gitRepoNode({ ...host, clock });
const cloned = { source: { gitRepo: { repository: 'https://example.com/repo' } } };
describeSimulated('gitRepo', gitRepo, { volume: cloned, data: undefined, content: 'as old as its pod', readOnly: 'container' });

type Answers = (file: string, args: readonly string[], options: ProgramOptions) => ProgramResult;

interface Case {
  readonly answers: Answers;
  readonly readOnly: boolean;
  readonly mountOptions: readonly string[];
  /** The file systems of the kernel. */
  readonly fileSystems: string;
}

async function publish(
  make: (host: HostWithPrograms) => NodeDriver,
  source: SourceOnNode,
  { answers = () => fine, readOnly = false, mountOptions = [] as string[], fileSystems = '\tnfs\n' }: Partial<Case> = {},
) {
  const host = new SimulatedHost();
  const calls: string[] = [];
  for (const directory of ['/pods', '/proc']) await host.makeDirectory(directory, 0o755);
  await host.write('/proc/filesystems', new TextEncoder().encode(fileSystems), 0o444);
  const programs: Programs = {
    run: async (file, args, options) => {
      calls.push([file, ...args].join(' '));
      return answers(file, args, options);
    },
  };
  const pod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, spec: { containers: [] } } as unknown as Pod;
  const volume = { name: 'data', source, persistentVolume: undefined, readOnly, mountOptions, mode: 'Filesystem' as const, publishContext: {} };
  const answer = await make({ mounts: host, files: host, programs }).nodePublishVolume({
    volume,
    pod,
    target: '/pods/data',
    stagingPath: undefined,
    recordEvent: () => undefined,
  });
  return { answer, calls, left: await host.list('/pods') };
}

describe('nfs', () => {
  test('is mounted as Kubernetes mounts it (v1.36.4)', async () => {
    const options = { readOnly: true, mountOptions: ['nfsvers=4.1', 'hard'] };
    expect(await publish(nfsNode, nfs.source, options)).toMatchObject({
      answer: { ok: true },
      calls: ['mount -t nfs -o hard,nfsvers=4.1,ro nfs.example.com:/exports/data /pods/data'],
    });
    const six = await publish(nfsNode, { nfs: { server: 'fd00::1', path: '/' } });
    expect(six.calls).toEqual(['mount -t nfs [fd00::1]:/ /pods/data']);
  });

  test('that cannot be mounted fails with the message of mount, and leaves nothing behind', async () => {
    const answers: Answers = () => ({ type: 'exited', code: 32, output: 'mount.nfs: Connection refused' });
    const { answer, left } = await publish(nfsNode, nfs.source, { answers });
    expect(answer).toMatchObject({
      ok: false,
      message:
        'mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs nfs.example.com:/exports/data /pods/data\nOutput: mount.nfs: Connection refused\n',
    });
    expect(left).toEqual([]);
  });

  test('is mounted by fuse-nfs if the kernel has no client, even as a module; without fuse-nfs, the message says what to install', async () => {
    const answers: Answers = (file) => (file === 'modprobe' ? { type: 'exited', code: 1, output: '' } : { type: 'failed', message: 'spawn fuse-nfs ENOENT' });
    const { answer, calls, left } = await publish(nfsNode, nfs.source, { answers, fileSystems: 'nodev\tfuse\n', mountOptions: ['nfsvers=4.1'] });
    expect(answer).toMatchObject({
      ok: false,
      message:
        'mount failed: this kernel has no NFS client, and fuse-nfs did not help: spawn fuse-nfs ENOENT (install fuse-nfs, or a kernel with NFS and the package nfs-common)',
    });
    expect(calls).toEqual(['modprobe nfs', 'fuse-nfs -n nfs://nfs.example.com/exports/data?version=4 -m /pods/data']);
    expect(left).toEqual([]);
  });

  test('cannot pass options to programs', async () => {
    expect(await publish(nfsNode, { nfs: { server: '-o', path: '/x' } })).toMatchObject({ answer: { ok: false, code: 'InvalidArgument' }, calls: [] });
  });
});

describe('glusterfs', () => {
  test('is mounted from the first server of its endpoints, with the others as backup', async () => {
    expect(await publish(gluster, { glusterfs: { endpoints: 'servers', path: 'vol' } }, { readOnly: true })).toMatchObject({
      answer: { ok: true },
      calls: ['mount -t glusterfs -o backup-volfile-servers=10.0.0.2:[fd00::1],log-level=ERROR,ro 10.0.0.1:vol /pods/data'],
    });
    expect(await publish(gluster, { glusterfs: { endpoints: 'none', path: 'vol' } })).toMatchObject({
      answer: { ok: false, message: 'endpoints "none" not found' },
    });
  });
});

describe('gitRepo', () => {
  const of = (repository: string, revision?: string, directory?: string): SourceOnNode => ({
    gitRepo: { repository, ...(revision === undefined ? {} : { revision }), ...(directory === undefined ? {} : { directory }) },
  });
  const wrong = [
    [of('--upload-pack=x'), '"--upload-pack=x" is an invalid value for repository'],
    [of('https://x', '-b'), '"-b" is an invalid value for revision'],
    [of('https://x', '', '../up'), '"../up" is not a valid directory'],
    [of('https://x', '', '/etc'), '"/etc" is not a valid directory'],
    [of('https://x', 'main', 'a/b'), '"a/b" is not a valid directory, it must not contain a directory separator'],
  ] as const;
  test.each(wrong)('%j is refused before git sees it (v1.36.4)', async (source, message) => {
    expect(await publish(gitRepo, source)).toMatchObject({ answer: { ok: false, message }, calls: [] });
  });

  test('that git refuses leaves nothing behind', async () => {
    const { answer, left } = await publish(gitRepo, of('https://x/repo'), { answers: () => ({ type: 'exited', code: 128, output: 'fatal: no' }) });
    expect(answer).toMatchObject({ ok: false, message: "failed to exec 'git clone -- https://x/repo': fatal: no: exit status 128" });
    expect(left).toEqual([]);
  });
});
