#!/usr/bin/env -S node --max-semi-space-size=64
import { version } from '../cluster/version.ts';
import { type CommandEntry, runProgram } from './command.ts';

/** Each command is loaded when it is run, so that `moor --help` loads none of them. */
const commands: readonly CommandEntry[] = [
  { name: 'up', summary: 'start a cluster in the foreground', load: async () => (await import('./up.ts')).upCommand },
  {
    name: 'controllers',
    summary: 'run the controllers apart from the API server, in as many processes as you like',
    load: async () => (await import('./controllers.ts')).controllersCommand,
  },
  {
    name: 'scheduler',
    summary: 'run the scheduler apart from the API server, in as many processes as you like',
    load: async () => (await import('./scheduler.ts')).schedulerCommand,
  },
  {
    name: 'node',
    summary: 'make this machine a node of a cluster: its pods run here, with their volumes mounted',
    load: async () => (await import('./node.ts')).nodeCommand,
  },
  {
    name: 'why',
    summary: 'list what is stuck, or explain why an object is in its state, and what would change that',
    load: async () => (await import('./why.ts')).whyCommand,
  },
  {
    name: 'simulate',
    summary: 'play a scenario on virtual time: what happens if a node dies, a zone fails, a storage backend fails?',
    load: async () => (await import('./simulate.ts')).simulateCommand,
  },
  {
    name: 'fuzz',
    aliases: ['sim'],
    summary: 'run random clusters with random faults, each from a seed, and check that no invariant breaks',
    load: async () => (await import('./fuzz.ts')).fuzzCommand,
  },
  {
    name: 'audit',
    summary: 'list storage assets without an owner, and intents that no controller finishes',
    load: async () => (await import('./audit.ts')).auditCommand,
  },
  { name: 'version', summary: 'print the version', load: async () => (await import('./version.ts')).versionCommand },
];

process.exitCode = await runProgram(
  { commands, version, out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) },
  process.argv.slice(2),
);
