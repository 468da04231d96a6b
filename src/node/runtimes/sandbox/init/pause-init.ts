/** The program of a pod's pause process, which holds the namespaces that its containers share. */
import { clone, detach, ignoreSignal, mountFlags, signals } from './linux.ts';
import { type InterfaceAddress, networkSteps } from './network-steps.ts';
import { type InitProgram, inside, type Step } from './program.ts';
import { programOf, reporting, reportWords } from './reports.ts';
import * as steps from './steps.ts';

export interface PauseSpec {
  /** Undefined: it shares the host's network and hostname. */
  readonly network: (InterfaceAddress & { readonly hostname: string }) | undefined;
  readonly ownIpc: boolean;
  /** The containers see each other's processes. */
  readonly sharesProcesses: boolean;
  /** Paths below /proc/sys. */
  readonly sysctls: readonly { readonly path: string; readonly value: string }[];
  /** An empty directory of the host. */
  readonly scratch: string;
}

/** The user of the usual pause image. */
const user = 65_535;

/** The namespaces of the pause process that containers enter. */
export const podNamespaces = ({ network, ownIpc, sharesProcesses }: Pick<PauseSpec, 'ownIpc' | 'sharesProcesses'> & { readonly network: unknown }): number =>
  (network === undefined ? 0 : clone.newNetwork | clone.newHostname) | (ownIpc ? clone.newIpc : 0) | (sharesProcesses ? clone.newProcesses : 0);

/**
 * It reports when it has its namespaces, and waits until the shim has connected the network. A shared process namespace needs a first process, which cannot be the one that was
 * launched: that one waits for its end.
 */
export function pauseInit(spec: PauseSpec): InitProgram {
  const waiting = reporting('waiting');
  const hostname = spec.network?.hostname ?? '';
  const first: Step = {
    call: 'clone',
    args: [clone.newProcesses | clone.setParentThreadId | signals.child, 0, inside(waiting.bytes, reportWords)],
    result: 'first',
    onZero: 'pause',
    failure: 'cannot make a process',
  };
  return programOf([
    ...steps.seclude(0),
    { call: 'unshare', args: [podNamespaces({ ...spec, sharesProcesses: false })], failure: 'cannot make the namespaces' },
    ...(spec.network === undefined ? [] : [{ call: 'sethostname', args: [hostname, Buffer.byteLength(hostname)] } as const]),
    ...(spec.sharesProcesses ? [first] : []),
    waiting.step,
    steps.awaitShim('end'),
    ...spec.sysctls.flatMap(({ path, value }) =>
      steps.write(`/proc/sys/${path}`, value, `securityContext.sysctls: write sysctl key ${path.replaceAll('/', '.')}`),
    ),
    ...(spec.network === undefined ? [] : networkSteps(spec.network)),
    reporting('executing').step,
    reporting('executed').step,
    ...(spec.sharesProcesses ? waitForFirst(spec.scratch) : []),
    ...pause,
    { call: 'exit_group', args: [0], label: 'end' },
  ]);
}

/** The first process of the namespace is seen by containers: its root is empty. */
const waitForFirst = (scratch: string): readonly Step[] => [
  steps.closeFrom(0),
  ...steps.withoutRights(),
  { ...steps.awaitEnd('first', { facts: 0, flags: 0 }), onZero: 'end', onError: 'end' },
  { ...steps.dieWithParent, label: 'pause' },
  { call: 'unshare', args: [clone.newMounts] },
  { call: 'mount', args: ['none', '/', 0, mountFlags.slave | mountFlags.recursive, 0] },
  { call: 'mount', args: ['moor', scratch, 'tmpfs', mountFlags.readOnly, 0] },
  { call: 'chdir', args: [scratch] },
  { call: 'pivot_root', args: ['.', '.'] },
  { call: 'umount2', args: ['.', detach] },
  { call: 'chdir', args: ['/'] },
];

/** The structure `sigaction`: children that end are not kept. */
const ignoreAction = (() => {
  const action = Buffer.alloc(32);
  action.writeBigUInt64LE(BigInt(ignoreSignal));
  return action;
})();

const pause: readonly Step[] = [
  steps.closeFrom(0),
  { call: 'rt_sigaction', args: [signals.child, ignoreAction, 0, 8] },
  ...steps.withoutRights(steps.setUser({ uid: user, gid: user, groups: [] })),
  steps.dieWithParent,
  { call: 'ppoll', args: [0, 0, 0, 0, 0], label: 'again', onError: 'again', onZero: 'again', onPositive: 'again' },
];
