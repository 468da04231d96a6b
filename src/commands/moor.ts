#!/usr/bin/env -S node --max-semi-space-size=64
import { version } from '../cluster/version.ts';
import { allCommands } from './all-commands.ts';
import { runProgram } from './command.ts';

process.exitCode = await runProgram(
  { commands: allCommands, version, out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) },
  process.argv.slice(2),
);
