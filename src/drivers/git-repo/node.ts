import type { GitRepoVolumeSource } from '../../api/generated/types.ts';
import type { Clock } from '../../world/world.ts';
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
import { removeEmptyDirectory } from '../mount/empty-directory.ts';
import { exitMessage, type HostWithPrograms } from '../mount/mount-program.ts';
import { setVolumeOwnership } from '../mount/volume-ownership.ts';

export interface GitRepoOptions extends HostWithPrograms {
  readonly clock: Clock;
}

/**
 * kubernetes.io/git-repo: a directory with a cloned repository, with the lifetime of its pod. Kubernetes 1.36 refuses this type, because git ran
 * hooks of repositories as root. Here git runs nothing: no hooks, no submodules, no configuration of the machine, and only network protocols.
 */
export function gitRepoNode(options: GitRepoOptions): NodeDriver {
  return {
    capabilities: { name: 'kubernetes.io/git-repo', stages: false, mountOptions: false, block: false, requiresRemount: false },
    nodePublishVolume: (request) => attempt(() => publish(options, request)),
    nodeUnpublishVolume: ({ target }) =>
      attempt(async () => {
        await removeEmptyDirectory(options, target);
        return done;
      }),
  };
}

/** Created under another name, then renamed: an existing directory is complete. */
async function publish(
  options: GitRepoOptions,
  { volume, pod, target, recordEvent }: NodePublishVolumeRequest,
): Promise<DriverAnswer<NodePublishVolumeResponse>> {
  const { files, clock } = options;
  const { repository = '', revision = '', directory = '' } = volume.source.gitRepo ?? {};
  const wrong = wrongIn({ repository, revision, directory });
  if (wrong !== undefined) return wrong;
  if ((await files.stat(target))?.type === 'directory') return succeeded({ path: target });
  const next = `${target}.new`;
  await files.removeTree(next);
  await files.makeDirectory(next, 0o777);
  const refused = await fill(options, next, { repository, revision, directory });
  if (refused !== undefined) {
    await files.removeTree(next);
    return refused;
  }
  await setVolumeOwnership(next, { files, clock, pod, readOnly: false, when: 'always', recordEvent });
  await files.rename(next, target);
  return succeeded({ path: target });
}

/** Rejects options of git, and paths outside of the volume. */
function wrongIn(source: Required<GitRepoVolumeSource>): DriverFailure | undefined {
  for (const name of ['repository', 'revision', 'directory'] as const) {
    if (source[name].startsWith('-')) return failed('InvalidArgument', `${JSON.stringify(source[name])} is an invalid value for ${name}`);
  }
  const { revision, directory } = source;
  const parts = directory.split('/');
  if (directory.startsWith('/') || parts.includes('..')) return failed('InvalidArgument', `${JSON.stringify(directory)} is not a valid directory`);
  if (revision !== '' && (parts.filter((part) => part !== '' && part !== '.').length > 1 || directory.includes('\\'))) {
    return failed('InvalidArgument', `${JSON.stringify(directory)} is not a valid directory, it must not contain a directory separator`);
  }
  return undefined;
}

async function fill(
  options: GitRepoOptions,
  root: string,
  { repository, revision, directory }: Required<GitRepoVolumeSource>,
): Promise<DriverFailure | undefined> {
  const cloned = await git(options, root, ['clone', '--', repository, ...(directory === '' ? [] : [directory])]);
  if (cloned !== undefined || revision === '') return cloned;
  const isRoot = directory !== '' && directory.split('/').every((part) => part === '' || part === '.');
  const entries = await options.files.list(root);
  if (!isRoot && entries.length !== 1) return failed('Internal', `unexpected directory contents: [${entries.join(' ')}]`);
  const tree = isRoot ? root : `${root}/${entries[0] ?? ''}`;
  return (await git(options, tree, ['checkout', revision])) ?? (await git(options, tree, ['reset', '--hard']));
}

const gitTimeoutMs = 300_000;
const settings = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'submodule.recurse=false'].flatMap((each) => ['-c', each]);
const variables = {
  GIT_ALLOW_PROTOCOL: 'git:http:https',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TEMPLATE_DIR: '',
  GIT_TERMINAL_PROMPT: '0',
  HOME: '/nonexistent',
};

async function git({ programs }: GitRepoOptions, directory: string, args: readonly string[]): Promise<DriverFailure | undefined> {
  const end = await programs.run('git', [...settings, ...args], { timeoutMs: gitTimeoutMs, directory, variables });
  if (end.type === 'exited' && end.code === 0) return undefined;
  const output = end.type === 'exited' ? end.output : '';
  return failed('Internal', `failed to exec 'git ${args.join(' ')}': ${output}: ${exitMessage(end)}`);
}
