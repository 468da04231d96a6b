/** The programs of the processes that become a container's first process, and a further one of it (exec). */
import { execute, type Execution } from './execute.ts';
import { clone, mountFlags, signals } from './linux.ts';
import { type InitProgram, inside, type Step } from './program.ts';
import { programOf, reportChannel, reporting, reportWords } from './reports.ts';
import {
  awaitEnd,
  closeFrom,
  dieWithParent,
  enter,
  type Identity,
  joinControlGroups,
  lastRestriction,
  monitor,
  newKeyring,
  newSession,
  seclude,
  takeIdentity,
  usualState,
} from './steps.ts';
import { sysPtrace } from './capabilities.ts';

export interface InitSpec extends Execution {
  readonly identity: Identity;
  readonly workingDir: string;
  /** Directories of the container's control groups. */
  readonly groups: readonly string[];
}

export interface ContainerInitSpec extends InitSpec {
  /** Namespaces of processes that are entered. The processes are handed over in this order, from descriptor 4. */
  readonly entered: readonly number[];
  /** It has a process namespace of its own. */
  readonly ownProcesses: boolean;
}

/**
 * Two processes. The second one becomes the container's: once it has its namespaces it reports its id and waits until the shim has made the root and moved it there. The first one
 * waits for its end. Until the program is executed they share their memory, and the first one stands still.
 */
export function containerInit(spec: ContainerInitSpec): InitProgram {
  const found = reporting('process');
  const namespaces = clone.newMounts | (spec.ownProcesses ? clone.newProcesses : 0);
  const flags = clone.vm | clone.vfork | clone.setParentThreadId | namespaces | signals.child;
  return programOf([
    ...seclude(spec.entered.length),
    ...spec.entered.flatMap((entered, index) => enter(reportChannel + 1 + index, entered)),
    { call: 'clone', args: [flags, 0, inside(found.bytes, reportWords)], result: 'child', onPositive: 'monitor', failure: 'cannot make the namespaces' },
    dieWithParent,
    ...joinControlGroups(spec.groups),
    { call: 'unshare', args: [clone.newControlGroup], failure: 'cannot make the namespaces' },
    newKeyring,
    ...mountProcesses,
    found.step,
    { call: 'read', args: [reportChannel, Buffer.alloc(8), 1], onZero: 'end' },
    closeFrom(reportChannel + 1),
    newSession,
    ...usualState,
    ...takeIdentity(spec.identity, spec.workingDir),
    ...executeLast(spec),
    { call: 'exit_group', args: [0], label: 'end' },
    ...monitor('child', 'monitor'),
  ]);
}

/** No mount made here appears on the host. /proc shows the processes of the namespace in which it is mounted. */
const mountProcesses: readonly Step[] = [
  {
    call: 'mount',
    args: ['none', '/', 0, mountFlags.slave | mountFlags.recursive, 0],
    failure: 'cannot separate the mounts',
  },
  { call: 'mount', args: ['proc', '/proc', 'proc', mountFlags.noSetuid | mountFlags.noDevices | mountFlags.noExecution, 0], failure: 'cannot mount /proc' },
];

/**
 * Three processes: the first one waits, the second one enters the container (descriptor 4 stands for its first process), and the third one, a child of the first, executes the program. A process
 * of the container sees only the third, which has no other rights than the container. Only if the filter of system calls has to be set with rights, and no process of the
 * container may trace others, they are given up afterwards: a filter may forbid to make processes.
 */
export function execInit(spec: InitSpec): InitProgram {
  const { noNewPrivileges, seccompFilter, capabilities } = spec.identity;
  const shared = clone.vm | clone.vfork | signals.child;
  const rights = takeIdentity(spec.identity, spec.workingDir);
  const isEarly = noNewPrivileges || seccompFilter === undefined || capabilities.has(sysPtrace);
  return programOf([
    ...seclude(1),
    { call: 'clone', args: [shared, 0, 0], result: 'entering', onPositive: 'wait' },
    dieWithParent,
    ...joinControlGroups(spec.groups),
    newKeyring,
    ...enter(reportChannel + 1, clone.newMounts | clone.newProcesses | clone.newNetwork | clone.newIpc | clone.newHostname | clone.newControlGroup),
    closeFrom(reportChannel + 1),
    ...usualState,
    ...(isEarly ? rights : []),
    { call: 'clone', args: [shared | clone.parent, 0, 0], result: 'program', onPositive: 'entered', failure: 'cannot make a process' },
    newSession,
    ...(isEarly ? [dieWithParent] : rights),
    ...executeLast(spec),
    { call: 'exit_group', args: [0], label: 'entered' },
    { ...awaitEnd('entering', 0), label: 'wait' },
    ...monitor('program', 'monitor'),
  ]);
}

const executeLast = (spec: InitSpec): readonly Step[] => [reporting('executing').step, ...lastRestriction(spec.identity), ...execute(spec)];
