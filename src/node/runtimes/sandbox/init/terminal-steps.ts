/**
 * A terminal of the container's own devpts, whatever its image has. The process that waits for the program's end holds the terminal's master: two relays, its children on the host, copy
 * between the master and the pipes of the shim, so that the program's last output is read although all processes of the container have ended.
 */
import { allDescriptors, clone, currentDirectory, openFlags, resolveFlags, signals, terminalControl } from './linux.ts';
import { resultOf, type Step } from './program.ts';

/** Flags of the process that opens the terminal: its descriptors are those of the process that waits, until `openTerminal` is done. */
export const sharedDescriptors = clone.files;

/** Above all descriptors that an init has. They are closed when a program is executed. */
const [master, terminal] = [100, 101];
const failure = 'cannot open a terminal';
const openedAs = openFlags.readWrite | openFlags.noTerminal | openFlags.closeOnExec;

/** In the container's root. No link of the container is followed: what is opened there is a device that its control group permits, or nothing. */
export function openTerminal(owner: { readonly uid: number; readonly gid: number }): readonly Step[] {
  const how = Buffer.alloc(24);
  how.writeBigUInt64LE(BigInt(openedAs), 0);
  how.writeBigUInt64LE(BigInt(resolveFlags.noMagicLinks | resolveFlags.noLinks), 16);
  return [
    { call: 'openat2', args: [currentDirectory, '/dev/pts/ptmx', how, how.length], result: 'master', failure },
    { call: 'dup3', args: [resultOf('master'), master, openFlags.closeOnExec], failure },
    { call: 'ioctl', args: [master, terminalControl.unlock, Buffer.alloc(4)], failure },
    { call: 'ioctl', args: [master, terminalControl.openPeer, openedAs], result: 'terminal', failure },
    { call: 'dup3', args: [resultOf('terminal'), terminal, openFlags.closeOnExec], failure },
    // The program may open it again by its name.
    { call: 'fchown', args: [terminal, owner.uid, owner.gid], failure },
    { call: 'unshare', args: [clone.files], failure },
  ];
}

/** In the process that executes the program, once it leads a session. */
export const takeTerminal: readonly Step[] = [
  { call: 'ioctl', args: [terminal, terminalControl.makeControlling, 0], failure: 'cannot take the terminal' },
  ...[0, 1, 2].map((stream): Step => ({ call: 'dup3', args: [terminal, stream, 0], failure: 'cannot take the terminal' })),
];

/** Calls of `takeTerminal`. */
export const terminalCalls = ['ioctl', 'dup3'] as const;

/** In the process that waits, which has no rights any more, and closes what it has opened itself afterwards. They end with the last process that has the terminal, and with the shim's pipes. */
export const relays = (): readonly Step[] => [
  ...relay({ name: 'output', masterAt: 0 }),
  ...relay({ name: 'input', masterAt: 1 }),
  { call: 'exit_group', args: [0], label: relayEnds },
  { call: 'close_range', args: [master, terminal, 0], label: 'beside input' },
];

/** A process that copies from descriptor 0 to 1, of which one is the master. Without a master, for lack of a program, it ends at once. */
function relay({ name, masterAt }: { readonly name: string; readonly masterAt: 0 | 1 }): readonly Step[] {
  const bytes = Buffer.alloc(relayedBytes);
  const [copy, beside] = [`copy ${name}`, `beside ${name}`];
  return [
    {
      call: 'clone',
      args: [signals.child, 0, 0],
      ...(name === 'input' ? { label: 'beside output' } : {}),
      onPositive: beside,
      failure: 'cannot make a process',
    },
    { call: 'dup3', args: [master, masterAt, 0], onError: relayEnds },
    { call: 'close_range', args: [2, allDescriptors, 0] },
    { call: 'read', args: [0, bytes, bytes.length], result: name, label: copy, onZero: relayEnds, onError: relayEnds },
    { call: 'write', args: [1, bytes, resultOf(name)], onPositive: copy, onError: relayEnds },
  ];
}
const relayEnds = 'a relay ends';

/** A pipe takes so many bytes as a whole. */
const relayedBytes = 4096;
