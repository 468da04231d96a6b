/** Parts of the programs in this folder. */
import { mostCapabilities } from '../../../security/capabilities.ts';
import {
  allDescriptors,
  capabilityVersion,
  closeOnExec,
  currentDirectory,
  errors,
  joinSessionKeyring,
  openFlags,
  processControl,
  resolveFlags,
  setModeFilter,
  setSignalMask,
  signals,
  wait,
} from './linux.ts';
import { type Argument, type Constant, inside, listOf, resultOf, type Step } from './program.ts';
import { reportChannel, reporting, reportWords } from './reports.ts';

/** The rights of a process. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** The bounding set, by number. Root has all of them, and other users none. */
  readonly capabilities: ReadonlySet<number>;
  readonly noNewPrivileges: boolean;
  /** Structures `sock_filter`. */
  readonly seccompFilter: Uint8Array | undefined;
}

/**
 * The first steps of an init. It keeps its standard streams, the report channel and the descriptors that it was handed; programs inherit only the first. Its memory and
 * descriptors are closed to other processes, and so are those of its children.
 */
export const seclude = (handed: number): readonly Step[] => [
  closeFrom(reportChannel + 1 + handed),
  { call: 'close_range', args: [reportChannel, reportChannel, closeOnExec] },
  { call: 'prctl', args: [processControl.setDumpable, 0, 0, 0, 0] },
  dieWithParent,
];

export const closeFrom = (first: number): Step => ({ call: 'close_range', args: [first, allDescriptors, 0] });

/** Linux forgets it when a process changes its rights. */
export const dieWithParent: Step = { call: 'prctl', args: [processControl.setParentDeathSignal, signals.kill, 0, 0, 0] };

/** Enters namespaces of the process that a descriptor stands for. */
export const enter = (descriptor: number, namespaces: number): readonly Step[] =>
  namespaces === 0 ? [] : [{ call: 'setns', args: [descriptor, namespaces], failure: 'cannot enter the namespaces' }];

/** By paths of the host. */
export const joinControlGroups = (directories: readonly string[]): readonly Step[] =>
  directories.flatMap((directory) => write(`${directory}/cgroup.procs`, '0', 'cannot join the control group'));

/** Writes a text to a file of the host. */
export const write = (file: string, text: string, failure: string): readonly Step[] => [
  { call: 'openat', args: [currentDirectory, file, openFlags.writeOnly | openFlags.closeOnExec, 0], result: file, failure },
  { call: 'write', args: [resultOf(file), text, Buffer.byteLength(text)], failure },
];

/** From the next program on that is executed. */
export const confine = (appArmorProfile: string): readonly Step[] =>
  write('/proc/self/attr/apparmor/exec', `exec ${appArmorProfile}`, 'unable to apply apparmor profile');

/** A session keyring without a name. A kernel may have no keyrings. */
export const newKeyring: Step = { call: 'keyctl', args: [joinSessionKeyring, 0], allows: [errors.ENOSYS], failure: 'cannot make a session keyring' };

export const newSession: Step = { call: 'setsid', args: [] };

/** The structure `sigaction`. */
const defaultAction = Buffer.alloc(32);

/** What programs inherit besides: the mask of new files, and signals that are neither blocked nor ignored. */
export const usualState: readonly Step[] = [
  { call: 'umask', args: [0o022] },
  { call: 'rt_sigprocmask', args: [setSignalMask, Buffer.alloc(8), 0, 8] },
  ...Array.from({ length: signals.last }, (_, number) => number + 1)
    .filter((signal) => signal !== signals.kill && signal !== signals.stop)
    .map((signal): Step => ({ call: 'rt_sigaction', args: [signal, defaultAction, 0, 8] })),
];

/**
 * Gives up all rights but the container's; there is no way back. The working directory is entered before, as in runc; if that is not permitted (a file server may know the
 * container's user, but not root), afterwards. Neither way leads through a link of /proc to another root.
 */
export function takeIdentity(identity: Identity, workingDir: string): readonly Step[] {
  const { uid, gid, groups, capabilities, noNewPrivileges, seccompFilter } = identity;
  const [rights, arrived] = ['rights', 'in the working directory'];
  return [
    { ...openDirectory(workingDir, workingDir), result: 'directory', allows: [errors.EPERM, errors.EACCES], onZero: rights },
    { call: 'fchdir', args: [resultOf('directory')], onError: rights },
    // Its result is 0: an address that the second attempt cannot read.
    { call: 'prctl', args: [processControl.setDumpable, 0, 0, 0, 0], result: 'no second attempt' },
    { call: 'prctl', args: [processControl.setDumpable, 0, 0, 0, 0], label: rights },
    // Without no_new_privs, only a process with rights may set a filter. With it, that is the last step: `lastRestriction`.
    ...(noNewPrivileges ? [setNoNewPrivileges] : filter(seccompFilter)),
    ...boundingSet(capabilities),
    ...setUser({ uid, gid, groups }),
    setCapabilities(uid === 0 ? capabilities : new Set()),
    { ...openDirectory(workingDir, resultOf('no second attempt', workingDir)), result: 'directory again', allows: [errors.EFAULT], onZero: arrived },
    { call: 'fchdir', args: [resultOf('directory again')], failure: directoryFailure(workingDir) },
    { ...dieWithParent, label: arrived },
  ];
}

export function setUser({ uid, gid, groups }: Pick<Identity, 'uid' | 'gid' | 'groups'>): readonly Step[] {
  const ids = Uint32Array.from(new Set(groups));
  return [
    { call: 'setgroups', args: [ids.length, Buffer.from(ids.buffer)], failure: 'unable to set supplementary groups' },
    { call: 'setresgid', args: [gid, gid, gid], failure: 'unable to setgid' },
    { call: 'setresuid', args: [uid, uid, uid], failure: 'unable to setuid' },
  ];
}

/** Before the program is executed. */
export const lastRestriction = ({ noNewPrivileges, seccompFilter }: Identity): readonly Step[] => (noNewPrivileges ? filter(seccompFilter) : []);

const setNoNewPrivileges: Step = { call: 'prctl', args: [processControl.setNoNewPrivileges, 1, 0, 0, 0], failure: 'unable to set no_new_privs' };

/** The structure `sock_fprog`: a number and a pointer. */
const filter = (instructions: Uint8Array | undefined): readonly Step[] =>
  instructions === undefined
    ? []
    : [{ call: 'seccomp', args: [setModeFilter, 0, listOf([instructions.length / 8, instructions])], failure: 'unable to init seccomp' }];

const directoryFailure = (workingDir: string): string => `chdir to cwd (${JSON.stringify(workingDir)}) set in config.json failed`;

function openDirectory(workingDir: string, path: Argument): Step {
  const how = Buffer.alloc(24);
  how.writeBigUInt64LE(BigInt(openFlags.path | openFlags.directory | openFlags.closeOnExec), 0);
  how.writeBigUInt64LE(BigInt(resolveFlags.noMagicLinks), 16);
  return { call: 'openat2', args: [currentDirectory, path, how, how.length], failure: directoryFailure(workingDir) };
}

/** Linux knows fewer than there is room for. */
function boundingSet(kept: ReadonlySet<number>): readonly Step[] {
  const [allows, failure] = [[errors.EINVAL], 'unable to apply bounding set'];
  const dropped = Array.from({ length: mostCapabilities }, (_, number) => number).filter((number) => !kept.has(number));
  return dropped.map((number) => ({ call: 'prctl', args: [processControl.dropFromBoundingSet, number, 0, 0, 0], allows, failure }));
}

/** Effective and permitted ones; none are inheritable, so that none are ambient. */
function setCapabilities(capabilities: ReadonlySet<number>): Step {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(capabilityVersion);
  const mask = [...capabilities].reduce((sum, number) => sum | (1n << BigInt(number)), 0n);
  const data = Buffer.alloc(24);
  for (const [half, offset] of [
    [mask & 0xffff_ffffn, 0],
    [mask >> 32n, 12],
  ] as const) {
    data.writeUInt32LE(Number(half), offset);
    data.writeUInt32LE(Number(half), offset + 4);
  }
  return { call: 'capset', args: [head, data], failure: 'unable to apply caps' };
}

/**
 * Tells that the program has been executed, waits for its end without any rights, and tells that too. The program's process keeps its id until the shim closes the channel:
 * what the shim opens by that id is this process. `first`: steps before that.
 */
export function monitor(child: string, executed: Step, first: readonly Step[] = []): readonly Step[] {
  const ended = reporting('ended');
  return [
    ...withoutRights().map((step, index) => (index === 0 ? { ...step, label: 'monitor' } : step)),
    ...first,
    { call: 'close_range', args: [0, reportChannel - 1, 0] },
    closeFrom(reportChannel + 1),
    executed,
    awaitEnd(child, { facts: inside(ended.bytes, reportWords), flags: wait.unreaped }),
    ended.step,
    { call: 'read', args: [reportChannel, Buffer.alloc(8), 1] },
    { call: 'exit_group', args: [0] },
  ];
}

/** For a process that executes nothing any more, and needs no right for what it still does. */
export const withoutRights = (user: readonly Step[] = []): readonly Step[] => [
  setNoNewPrivileges,
  ...boundingSet(new Set()),
  ...user,
  setCapabilities(new Set()),
];

/** `facts`: memory for how it ended. */
export const awaitEnd = (child: string, { facts, flags }: { readonly facts: Constant; readonly flags: number }): Step => ({
  call: 'waitid',
  args: [wait.forProcess, resultOf(child), facts, wait.untilEnded | flags, 0],
});

/** Waits for the shim, which closes the channel if the process shall end. */
export const awaitShim = (end: string): Step => ({ call: 'read', args: [reportChannel, Buffer.alloc(8), 1], onZero: end });
