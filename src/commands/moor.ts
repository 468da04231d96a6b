#!/usr/bin/env -S node --max-semi-space-size=64
import { runProgram } from './command.ts';
import { auditCommand } from './audit.ts';
import { controllersCommand } from './controllers.ts';
import { nodeCommand } from './node.ts';
import { schedulerCommand } from './scheduler.ts';
import { fuzzCommand } from './fuzz.ts';
import { simulateCommand } from './simulate.ts';
import { upCommand } from './up.ts';
import { version, versionCommand } from '../cluster/version.ts';
import { whyCommand } from './why.ts';

process.exitCode = await runProgram(
  {
    commands: [upCommand, controllersCommand, schedulerCommand, nodeCommand, whyCommand, simulateCommand, fuzzCommand, auditCommand, versionCommand],
    version,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  },
  process.argv.slice(2),
);
