#!/usr/bin/env node
import { runProgram } from '../cli/command.ts';
import { upCommand } from './up-command.ts';
import { version, versionCommand } from './version.ts';

process.exitCode = await runProgram(
  {
    commands: [upCommand, versionCommand],
    version,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  },
  process.argv.slice(2),
);
