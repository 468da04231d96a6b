import { parseArgs } from 'node:util';
import { nearestName } from '../api/nearest-name.ts';

/** One command of `moor`, described once: parsing, errors and help follow from it. */
export interface Command {
  readonly name: string;
  /** One line, shown in the list of commands. */
  readonly summary: string;
  /** A paragraph or two for `moor NAME --help`. */
  readonly about: string;
  /** Absent: it takes flags only. */
  readonly arguments?: PositionalArguments;
  readonly flags: readonly Flag[];
  readonly examples: readonly Example[];
  /** Resolves with the exit code. */
  run(flags: FlagValues): Promise<number>;
}

/** What a command takes besides flags. */
export interface PositionalArguments {
  /** As the help shows them: 'KIND/NAME'. */
  readonly usage: string;
  readonly about: string;
  readonly least: number;
  readonly most: number;
}

export interface Flag {
  readonly name: string;
  /** One letter: 'n' for -n. */
  readonly short?: string;
  /** What stands for the value in the help ('DIR'); absent: the flag is a switch. */
  readonly value?: string;
  readonly about: string;
  /** What happens without the flag, as the help says it. */
  readonly default?: string;
  /** The only values that are right. */
  readonly oneOf?: readonly string[];
}

export interface Example {
  readonly line: string;
  readonly about: string;
}

export interface FlagValues {
  text(name: string): string | undefined;
  on(name: string): boolean;
  /** What was given besides flags, in order. */
  readonly arguments: readonly string[];
}

/** What the user typed cannot be carried out; the message says what would be right. */
export class UsageError extends Error {}

export interface Program {
  readonly commands: readonly Command[];
  readonly version: string;
  out(text: string): void;
  err(text: string): void;
}

/** Runs `moor ARGS…` and resolves with the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runProgram(program: Program, args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const topic = program.commands.find((c) => c.name === rest[0]);
    program.out(topic ? commandHelp(topic) : programHelp(program));
    return 0;
  }
  if (name === '--version' || name === '-v') {
    program.out(`${program.version}\n`);
    return 0;
  }
  const command = program.commands.find((c) => c.name === name);
  if (!command) {
    const near = nearestName(
      name,
      program.commands.map((c) => c.name),
    );
    program.err(`moor: there is no command "${name}"${near ? `; did you mean "${near}"?` : ''}\nRun "moor --help" for the list.\n`);
    return 2;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    program.out(commandHelp(command));
    return 0;
  }
  try {
    return await command.run(parseFlags(command, rest));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    program.err(`moor ${command.name}: ${error.message}\nRun "moor ${command.name} --help" for what it takes.\n`);
    return 2;
  }
}

export function parseFlags(command: Command, args: readonly string[]): FlagValues {
  const known = new Map(command.flags.map((f) => [f.name, f]));
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: Object.fromEntries(command.flags.map(parsedFlag)),
  });
  const values = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const flag = known.get(token.name);
    if (!flag) {
      const near = nearestName(token.name, known.keys());
      throw new UsageError(`there is no flag ${token.rawName}${near ? `; did you mean --${near}?` : ''}`);
    }
    values.set(flag.name, flagValue(flag, token.value));
  }
  const given = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  return { text: (name) => values.get(name), on: (name) => values.get(name) === 'true', arguments: checkedArguments(command, given) };
}

const parsedFlag = ({ name, short, value }: Flag) =>
  [name, { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short === undefined ? {} : { short }) }] as const;

function checkedArguments({ arguments: taken }: Command, given: readonly string[]): readonly string[] {
  const tooMuch = given[taken?.most ?? 0];
  if (tooMuch !== undefined) throw new UsageError(`it takes no${taken === undefined ? '' : ' further'} argument "${tooMuch}"`);
  if (taken !== undefined && given.length < taken.least) throw new UsageError(`it wants ${taken.usage}: ${taken.about}`);
  return given;
}

function flagValue(flag: Flag, given: string | undefined): string {
  if (flag.value === undefined) {
    if (given === undefined || given === 'true') return 'true';
    if (given === 'false') return 'false';
    throw new UsageError(`--${flag.name} is a switch: give it alone, or =true or =false`);
  }
  if (given === undefined || given === '') throw new UsageError(`--${flag.name} wants a value: --${flag.name} ${flag.value}`);
  if (flag.oneOf && !flag.oneOf.includes(given)) throw new UsageError(`--${flag.name} is one of ${flag.oneOf.join(', ')}, not "${given}"`);
  return given;
}

export function programHelp(program: Program): string {
  const width = Math.max(...program.commands.map((c) => c.name.length));
  return [
    'moor: Kubernetes storage on one machine, behind the Kubernetes API.',
    '',
    'Commands',
    ...program.commands.map((c) => `  ${c.name.padEnd(width)}  ${c.summary}`),
    '',
    'First steps',
    '  moor up                                            start a cluster, in the foreground',
    '  export KUBECONFIG=…                                as the ready screen says',
    '  kubectl get namespaces                             it is plain Kubernetes',
    '',
    '"moor COMMAND --help" explains a command.',
    '',
  ].join('\n');
}

export function commandHelp(command: Command): string {
  const heads = command.flags.map((f) => `${f.short === undefined ? '' : `-${f.short}, `}--${f.name}${f.value === undefined ? '' : ` ${f.value}`}`);
  const width = Math.max(0, ...heads.map((h) => h.length));
  const { arguments: taken } = command;
  const flags = command.flags.map((f, i) => {
    const about = f.default === undefined ? f.about : `${f.about} (otherwise: ${f.default})`;
    return `  ${(heads[i] ?? '').padEnd(width)}  ${about}`;
  });
  return [
    `moor ${command.name}: ${command.summary}`,
    '',
    ...(taken === undefined ? [] : [`  moor ${command.name} ${taken.usage} [flags]`, '', `${taken.usage}: ${taken.about}`, '']),
    command.about,
    ...(flags.length > 0 ? ['', 'Flags', ...flags] : []),
    ...(command.examples.length > 0 ? ['', 'Examples', ...command.examples.flatMap((e) => [`  # ${e.about}`, `  ${e.line}`])] : []),
    '',
  ].join('\n');
}
