/**
 * Starts a program by posix_spawn(3), which shares the memory of this process until the program is executed. fork(2), which Node uses, copies the page tables of
 * the whole process each time.
 */
import koffi from 'koffi';
import { systemError } from '../system-error.ts';

const library = koffi.load(null);
const spawn = library.func(
  'int posix_spawn(_Out_ int *pid, const char *path, const void *actions, const void *attributes, const char **arguments, const char **variables)',
);
const actionsOf = {
  init: library.func('int posix_spawn_file_actions_init(void *actions)'),
  destroy: library.func('int posix_spawn_file_actions_destroy(void *actions)'),
  dup2: library.func('int posix_spawn_file_actions_adddup2(void *actions, int from, int to)'),
};
const attributesOf = {
  init: library.func('int posix_spawnattr_init(void *attributes)'),
  destroy: library.func('int posix_spawnattr_destroy(void *attributes)'),
  setFlags: library.func('int posix_spawnattr_setflags(void *attributes, short flags)'),
  setDefaultSignals: library.func('int posix_spawnattr_setsigdefault(void *attributes, const void *signals)'),
  setMask: library.func('int posix_spawnattr_setsigmask(void *attributes, const void *signals)'),
};
const waitForProcess = library.func('int waitpid(int pid, _Out_ int *status, int options)');
const control = library.func('int fcntl(int fd, int command, int argument)');
const pipe2 = library.func('int pipe2(_Out_ int *ends, int flags)');
const socketPair = library.func('int socketpair(int domain, int type, int protocol, _Out_ int *ends)');

/** Larger than the C library's structures on every architecture. */
const sizes = { actions: 256, attributes: 1024, signals: 128 } as const;
const flags = { defaultSignals: 0x04, signalMask: 0x08, session: 0x80 } as const;
const closeOnExec = 0x8_0000;

export interface SpawnOptions {
  readonly path: string;
  readonly name: string;
  /** The descriptors of the program, from 0. Of those of this process that are not closed on exec, it has the others too. */
  readonly descriptors: readonly number[];
  readonly variables: Readonly<Record<string, string>>;
}

/** In a session of its own, with no signal blocked, handled or ignored. The caller waits for it. @throws if it cannot be started */
export function posixSpawn({ path, name, descriptors, variables }: SpawnOptions): number {
  const [actions, attributes] = [Buffer.alloc(sizes.actions), Buffer.alloc(sizes.attributes)];
  check('posix_spawn_file_actions_init', actionsOf.init(actions) as number);
  check('posix_spawnattr_init', attributesOf.init(attributes) as number);
  try {
    for (const [to, from] of descriptors.entries()) check('posix_spawn_file_actions_adddup2', actionsOf.dup2(actions, from, to) as number);
    attributesOf.setFlags(attributes, flags.session | flags.defaultSignals | flags.signalMask);
    attributesOf.setDefaultSignals(attributes, Buffer.alloc(sizes.signals, 0xff));
    attributesOf.setMask(attributes, Buffer.alloc(sizes.signals));
    const pid = [0];
    const environment = Object.entries(variables).map(([variable, value]) => `${variable}=${value}`);
    check('posix_spawn', spawn(pid, path, actions, attributes, [name, null], [...environment, null]) as number);
    return pid[0] ?? 0;
  } finally {
    actionsOf.destroy(actions);
    attributesOf.destroy(attributes);
  }
}

/** These functions return their error. */
function check(call: string, error: number): void {
  if (error !== 0) throw systemError(call, error);
}

/** As wait(2) encodes it. Undefined: it has not ended. */
export function endOf(pid: number): number | undefined {
  const status = [0];
  const withoutWaiting = 1;
  return (waitForProcess(pid, status, withoutWaiting) as number) === 0 ? undefined : (status[0] ?? 0);
}

/** The read end, and the write end. */
export const newPipe = (): readonly [number, number] => ends('pipe2', (both) => pipe2(both, closeOnExec) as number);

/** Two ends of a connection. */
export const newSocketPair = (): readonly [number, number] => ends('socketpair', (both) => socketPair(1, 1 | closeOnExec, 0, both) as number);

function ends(call: string, make: (both: number[]) => number): readonly [number, number] {
  const both = [-1, -1];
  if (make(both) !== 0) throw systemError(call, koffi.errno());
  return [both[0] ?? -1, both[1] ?? -1];
}

/** A copy that no descriptor of the program replaces. */
export function copyAbove(descriptor: number, least: number): number {
  const copyClosedOnExec = 1030;
  const copy = control(descriptor, copyClosedOnExec, least) as number;
  if (copy < 0) throw systemError('fcntl', koffi.errno());
  return copy;
}
