import type { Pod } from '../../api/generated/types.ts';
import type { Clock } from '../../world/world.ts';
import type { HostFiles, TreeEntry } from '../../world/mounts.ts';

export interface OwnershipOptions {
  readonly files: HostFiles;
  readonly clock: Clock;
  readonly pod: Pod;
  readonly readOnly: boolean;
  /** `policy`: the pod's fsGroupChangePolicy; `root-differs`: OnRootMismatch. */
  readonly when: 'always' | 'policy' | 'root-differs';
  readonly recordEvent: (reason: string, message: string) => void;
}

const [readWrite, readOnlyBits, execute, setGroupId] = [0o660, 0o440, 0o110, 0o2000];

/**
 * SetVolumeOwnership: changes the group of all files to the pod's `fsGroup`. The root comes last, so that a matching root means that all
 * files match. A file that cannot be changed is skipped, as in the kubelet. After 30 seconds an Event reports the progress.
 */
export async function setVolumeOwnership(root: string, ownership: OwnershipOptions): Promise<void> {
  const { securityContext } = ownership.pod.spec;
  const group = securityContext?.fsGroup;
  if (group === undefined) return;
  const policy = ownership.when === 'policy' && securityContext?.fsGroupChangePolicy !== 'OnRootMismatch' ? 'always' : ownership.when;
  if (policy !== 'always' && (await rootMatches(root, group, ownership))) return;
  const walk = new OwnershipWalk(root, group, ownership);
  if ((await ownership.files.stat(root)) !== undefined) await ownership.files.walkTree(root, (entry) => walk.give(entry));
}

/** Whether the root has the group and the permissions. */
async function rootMatches(root: string, group: number, { files, readOnly }: OwnershipOptions): Promise<boolean> {
  const stat = await files.stat(root, 'follow');
  const bits = (readOnly ? readOnlyBits : readWrite) | execute | setGroupId;
  return stat !== undefined && stat.type === 'directory' && stat.gid === group && (stat.mode & bits) === bits;
}

const firstReportMs = 30_000;
const nextReportMs = 60_000;

class OwnershipWalk {
  readonly #group: number;
  readonly #ownership: OwnershipOptions;
  readonly #name: string;
  #count = 0;
  #reportAt: number;
  #hasReported = false;

  constructor(root: string, group: number, ownership: OwnershipOptions) {
    const { uid = '' } = ownership.pod.metadata;
    this.#group = group;
    this.#ownership = ownership;
    this.#name = root.includes(uid) ? root.slice(root.indexOf(uid)) : root;
    this.#reportAt = ownership.clock.monotonic() + firstReportMs;
  }

  async give(entry: TreeEntry): Promise<void> {
    this.#count++;
    this.#report();
    await this.#change(entry).catch(() => undefined);
  }

  async #change({ stat: { type, mode }, setGroup, setMode }: TreeEntry): Promise<void> {
    await setGroup(this.#group);
    if (type === 'link') return;
    const bits = (this.#ownership.readOnly ? readOnlyBits : readWrite) | (type === 'directory' ? execute | setGroupId : 0);
    await setMode(mode | bits);
  }

  #report(): void {
    const { clock, recordEvent } = this.#ownership;
    if (clock.monotonic() < this.#reportAt) return;
    this.#reportAt = clock.monotonic() + nextReportMs;
    const message = this.#hasReported
      ? `Setting volume ownership for ${this.#name}, processed ${this.#count} files.`
      : `Setting volume ownership for ${this.#name} is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods`;
    this.#hasReported = true;
    recordEvent('VolumePermissionChangeInProgress', message);
  }
}
