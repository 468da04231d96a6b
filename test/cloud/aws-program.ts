import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** The aws CLI of this machine; undefined: there is none. */
export function awsProgram(): string | undefined {
  for (const directory of (process.env.PATH ?? '').split(path.delimiter)) {
    const program = path.join(directory, 'aws');
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not here.
    }
  }
  return undefined;
}
