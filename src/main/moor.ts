#!/usr/bin/env -S node --max-semi-space-size=64
import { runProgram } from '../cli/command.ts';
import { auditCommand } from './audit-command.ts';
import { controllersCommand } from './controllers-command.ts';
import { nodeCommand } from './node-command.ts';
import { schedulerCommand } from './scheduler-command.ts';
import { simCommand } from './sim-command.ts';
import { simulateCommand } from './simulate-command.ts';
import { upCommand } from './up-command.ts';
import { version, versionCommand } from './version.ts';
import { whyCommand } from './why-command.ts';

process.exitCode = await runProgram(
  {
    commands: [upCommand, controllersCommand, schedulerCommand, nodeCommand, whyCommand, simulateCommand, simCommand, auditCommand, versionCommand],
    version,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  },
  process.argv.slice(2),
);
