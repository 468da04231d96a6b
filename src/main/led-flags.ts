import { hostname } from 'node:os';
import type { Command } from '../cli/command.ts';
import { accessFlags, accessOf } from './cluster-access.ts';
import type { LedProcessOptions } from './led-process.ts';
import type { LogLevel } from './real-world.ts';

/** The flags of every command that runs part of the control plane in a process of its own. */
export const ledFlags: NonNullable<Command['flags']> = [
  ...accessFlags,
  { name: 'identity', value: 'NAME', about: 'who this is among those who would lead', otherwise: "the machine's name" },
  {
    name: 'log-level',
    value: 'LEVEL',
    about: 'debug, info, warn or error; JSON lines on standard error',
    oneOf: ['debug', 'info', 'warn', 'error'],
    otherwise: 'info',
  },
];

export async function ledOptions(flags: Parameters<Command['run']>[0]): Promise<LedProcessOptions> {
  return {
    access: await accessOf(flags),
    identity: flags.text('identity') ?? hostname(),
    logLevel: (flags.text('log-level') as LogLevel | undefined) ?? 'info',
  };
}
