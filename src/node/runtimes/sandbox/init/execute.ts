/** The last steps of an init: the program of the container. */
import { errors } from './linux.ts';
import { listOf, type Step } from './program.ts';
import { errorText, failureOf, type InitFailure } from './reports.ts';

export const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export interface Execution {
  /** The name of the program, and its arguments. */
  readonly command: readonly string[];
  /** 'NAME=value'. */
  readonly variables: readonly string[];
}

/** Programs are looked up with the rights that they will have. Another directory may have the program; the error of the last one is reported. */
export function execute({ command, variables }: Execution): readonly Step[] {
  const [args, environment] = [listOf(command), listOf(variables)];
  const candidates = candidatesOf(command, variables);
  return candidates.map((file, index) => ({ call: 'execve', args: [file, args, environment], allows: index === candidates.length - 1 ? [] : notThere }));
}

const notThere = [errors.ENOENT, errors.ENOTDIR, errors.EACCES, errors.ENAMETOOLONG, errors.ELOOP];

/** As Go's os/exec, not in directories relative to the current one. An empty path exists nowhere. */
function candidatesOf([name = '']: readonly string[], variables: readonly string[]): readonly string[] {
  if (name.includes('/')) return [name];
  const path = variables.findLast((variable) => variable.startsWith('PATH='))?.slice('PATH='.length) ?? '';
  const directories = path.split(':').filter((directory) => directory.startsWith('/'));
  return name === '' || directories.length === 0 ? [''] : directories.map((directory) => `${directory}/${name}`);
}

const isOfWorkingDirectory = ({ call, failure = '' }: Step): boolean => call === 'openat2' && failure.startsWith('chdir');

/** With runc's messages. */
export function failureText({ step, error }: InitFailure, { command: [name = ''] }: Execution): string {
  if (isOfWorkingDirectory(step) && error === errors.ELOOP) return 'current working directory is outside of container mount namespace root: unknown';
  if (step.call !== 'execve') return `${failureOf({ step, error })}: unknown`;
  const quoted = `exec: ${JSON.stringify(name)}`;
  if (!notThere.some((each) => each === error)) return `exec ${name}: ${errorText(error)}: unknown`;
  if (!name.includes('/')) return `${quoted}: executable file not found in $PATH: unknown`;
  return error === errors.EACCES ? `${quoted}: ${errorText(error)}: unknown` : `${quoted}: stat ${name}: ${errorText(error)}: unknown`;
}
