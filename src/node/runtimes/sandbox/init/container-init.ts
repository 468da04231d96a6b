/** The programs of the processes that become a container's first process, or a further one of it (exec). */
import { sysPtrace } from './capabilities.ts';
import { execute, type Execution } from './execute.ts';
import { clone, mountFlags, signals } from './linux.ts';
import { type InitProgram, inside, type Step } from './program.ts';
import { programOf, reportChannel, type ReportMemory, reporting, reportWords } from './reports.ts';
import * as steps from './steps.ts';
import { openTerminal, relays, sharedDescriptors, takeTerminal } from './terminal-steps.ts';

export interface InitSpec extends Execution {
  readonly identity: steps.Identity;
  readonly workingDir: string;
  /** Directories of the container's control groups. */
  readonly groups: readonly string[];
  readonly appArmorProfile: string | undefined;
  /** A process may be made after the filter of system calls has been set. */
  readonly isFilteredEarly: boolean;
  /** The program has a terminal of its own. */
  readonly tty: boolean;
}

export interface ContainerInitSpec extends InitSpec {
  /** Namespaces of processes that are entered. The processes are handed over in this order, from descriptor 4. */
  readonly entered: readonly number[];
  /** It has a process namespace of its own. */
  readonly ownProcesses: boolean;
}

/** The processes of an init stand still until the last of them has executed the program or ended. */
const still = clone.vfork | clone.setParentThreadId | signals.child;
/** They share their memory too: only those that no process of a container sees, since who may trace one could write what the others do with their rights. */
const shared = still | clone.vm;

export function containerInit(spec: ContainerInitSpec): InitProgram {
  const others = ~clone.newProcesses;
  return programOf([...steps.seclude(spec.entered.length), ...enter(spec, others), ...(spec.ownProcesses ? firstOfNamespace(spec) : besideOthers(spec))]);
}

const enter = ({ entered }: ContainerInitSpec, which: number): readonly Step[] =>
  entered.flatMap((namespaces, index) => steps.enter(reportChannel + 1 + index, namespaces & which));

/** Two processes: the second is the first one in its namespace, where no other sees it, and becomes the container's. */
function firstOfNamespace(spec: ContainerInitSpec): readonly Step[] {
  const waiting = reporting('waiting');
  return [
    fork(waiting, { flags: shared | clone.newMounts | clone.newProcesses | descriptorsOf(spec), result: 'program', onPositive: 'monitor' }),
    steps.closeFrom(reportChannel + 1),
    ...join(spec),
    ...separate,
    mountProcesses(),
    waiting.step,
    steps.awaitShim('end'),
    ...terminalOf(spec, openTerminal(spec.identity)),
    steps.newSession,
    ...terminalOf(spec, takeTerminal),
    ...steps.usualState,
    ...steps.takeIdentity(spec.identity, spec.workingDir),
    ...executeLast(spec),
    ...steps.monitor('program', reporting('executed').step, terminalOf(spec, relays())),
  ];
}

/** Three processes: in a namespace with other processes, these see only the third, which has no other rights than they. */
function besideOthers(spec: ContainerInitSpec): readonly Step[] {
  const [waiting, executed] = [reporting('waiting', { label: 'mounted' }), reporting('executed')];
  return [
    fork(waiting, { flags: shared | clone.newMounts | descriptorsOf(spec), result: 'second', onPositive: 'wait' }),
    // From now on its children are in that namespace, but not the process itself.
    ...enter(spec, clone.newProcesses),
    steps.closeFrom(reportChannel + 1),
    ...join(spec),
    ...separate,
    // Linux before 6.17 shows the processes of the namespace in which the mounting process is: a further one mounts it there.
    { ...mountProcesses('pidns=/proc/self/ns/pid_for_children'), onError: 'older', onZero: 'mounted' },
    { ...fork(executed, { flags: shared, result: 'mounting', onPositive: 'reap' }), label: 'older' },
    mountProcesses(),
    { call: 'exit_group', args: [0] },
    { ...steps.awaitEnd('mounting', { facts: 0, flags: 0 }), label: 'reap' },
    waiting.step,
    steps.awaitShim('end'),
    ...terminalOf(spec, openTerminal(spec.identity)),
    ...steps.usualState,
    ...becomeThird(spec, executed),
  ];
}

/** Three processes as well. Descriptor 4 stands for the container's first process. */
export function execInit(spec: InitSpec): InitProgram {
  const all = clone.newMounts | clone.newProcesses | clone.newNetwork | clone.newIpc | clone.newHostname | clone.newControlGroup;
  const executed = reporting('executed');
  return programOf([
    ...steps.seclude(1),
    fork(executed, { flags: shared | descriptorsOf(spec), result: 'second', onPositive: 'wait' }),
    ...join(spec),
    ...steps.enter(reportChannel + 1, all),
    steps.closeFrom(reportChannel + 1),
    ...terminalOf(spec, openTerminal(spec.identity)),
    ...steps.usualState,
    ...becomeThird(spec, executed),
  ]);
}

/**
 * The second process gives up its rights, and makes the third one as a child of the first, which tells of it: the third has nothing that the container's processes do not have, since these may
 * be permitted to trace it. Only under a filter that forbids to make processes, in a container that may not trace, the third one gives its rights up.
 */
function becomeThird(spec: InitSpec, executed: ReportMemory): readonly Step[] {
  const { noNewPrivileges, capabilities } = spec.identity;
  const rights = steps.takeIdentity(spec.identity, spec.workingDir);
  const isEarly = spec.isFilteredEarly || noNewPrivileges || capabilities.has(sysPtrace);
  return [
    ...(isEarly ? rights : []),
    fork(executed, { flags: still | clone.parent, result: 'program', onPositive: 'end' }),
    steps.newSession,
    ...terminalOf(spec, takeTerminal),
    ...(isEarly ? [steps.dieWithParent] : rights),
    ...executeLast(spec),
    { ...steps.awaitEnd('second', { facts: 0, flags: 0 }), label: 'wait' },
    ...steps.monitor('program', executed.step, terminalOf(spec, relays())),
  ];
}

const terminalOf = ({ tty }: InitSpec, its: readonly Step[]): readonly Step[] => (tty ? its : []);
const descriptorsOf = ({ tty }: InitSpec): number => (tty ? sharedDescriptors : 0);

interface Fork {
  readonly flags: number;
  /** The name of the child's process id. */
  readonly result: string;
  /** Where the parent goes on. The child goes on with the step below. */
  readonly onPositive: string;
}

/** The report gets the child's id on the host. */
const fork = ({ bytes }: ReportMemory, { flags, ...more }: Fork): Step => ({
  call: 'clone',
  args: [flags, 0, inside(bytes, reportWords)],
  failure: 'cannot make a process',
  ...more,
});

/** By paths of the host, while they lead there. */
const join = ({ groups, appArmorProfile }: InitSpec): readonly Step[] => [
  steps.dieWithParent,
  ...steps.joinControlGroups(groups),
  steps.newKeyring,
  ...(appArmorProfile === undefined ? [] : steps.confine(appArmorProfile)),
];

/** No mount made afterwards appears on the host. */
const separate: readonly Step[] = [
  { call: 'unshare', args: [clone.newControlGroup], failure: 'cannot make a control group namespace' },
  {
    call: 'mount',
    args: ['none', '/', 0, mountFlags.slave | mountFlags.recursive, 0],
    failure: 'cannot separate the mounts',
  },
];

/** /proc shows the processes of one namespace. */
const mountProcesses = (options: string | 0 = 0): Step => ({
  call: 'mount',
  args: ['proc', '/proc', 'proc', mountFlags.noSetuid | mountFlags.noDevices | mountFlags.noExecution, options],
  failure: 'cannot mount /proc',
});

/** 'end' is also for a process that the shim does not let go on. */
const executeLast = (spec: InitSpec): readonly Step[] => [
  reporting('executing').step,
  ...steps.lastRestriction(spec.identity),
  ...execute(spec),
  { call: 'exit_group', args: [0], label: 'end' },
];
