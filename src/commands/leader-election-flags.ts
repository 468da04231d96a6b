import { hostname } from 'node:os';
import type { Command } from './command.ts';
import { accessFlags, accessOf } from './cluster-access.ts';
import type { LeaderElectedProcessOptions } from './leader-elected-process.ts';
import type { LogLevel } from '../host/world.ts';

/** The flags of every command that runs part of the control plane in a process of its own. */
export const leaderElectionFlags: NonNullable<Command['flags']> = [
  ...accessFlags,
  { name: 'identity', value: 'NAME', about: 'who this is among those who would lead', default: "the machine's name" },
  {
    name: 'log-level',
    value: 'LEVEL',
    about: 'debug, info, warn or error; JSON lines on standard error',
    oneOf: ['debug', 'info', 'warn', 'error'],
    default: 'info',
  },
];

export async function leaderElectionOptions(flags: Parameters<Command['run']>[0]): Promise<LeaderElectedProcessOptions> {
  return {
    access: await accessOf(flags),
    identity: flags.text('identity') ?? hostname(),
    logLevel: (flags.text('log-level') as LogLevel | undefined) ?? 'info',
  };
}
