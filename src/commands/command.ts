import { parseArgs } from 'node:util';
import { nearestName } from '../api/nearest-name.ts';
import { type ExitCode, exitCodes, meaningsOf } from './result/exit-codes.ts';

/** A command as `moor --help` lists it. */
export interface CommandEntry {
  readonly name: string;
  /** Other names, which the help leaves out. */
  readonly aliases?: readonly string[];
  /** What other programs call it: not accepted, but answered with the name that is. */
  readonly elsewhere?: readonly string[];
  /** One line, shown in the list of commands. */
  readonly summary: string;
  load(): Promise<Command | CommandGroup>;
}

/** Commands below a command: `moor csi test`. */
export interface CommandGroup {
  readonly about: string;
  readonly commands: readonly CommandEntry[];
}

const isGroup = (loaded: Command | CommandGroup): loaded is CommandGroup => 'commands' in loaded;

/** All commands, those of groups by their whole name: 'csi test'. */
export async function commandsIn(entries: readonly CommandEntry[], group = ''): Promise<readonly (readonly [name: string, command: Command])[]> {
  const found = entries.map(async (entry) => {
    const [name, loaded] = [`${group}${entry.name}`, await entry.load()];
    return isGroup(loaded) ? commandsIn(loaded.commands, `${name} `) : [[name, loaded] as const];
  });
  return (await Promise.all(found)).flat();
}

/** One command of `moor`, described once: parsing, errors and help follow from it. */
export interface Command {
  /** A paragraph or two for `moor NAME --help`. */
  readonly about: string;
  /** Absent: the command takes flags only. */
  readonly arguments?: PositionalArguments;
  readonly flags: readonly Flag[];
  readonly examples: readonly Example[];
  /** Resolves with the exit code. */
  run(flags: FlagValues): Promise<ExitCode>;
}

/** The arguments of a command that are not flags. */
export interface PositionalArguments {
  /** As shown in the help: 'KIND/NAME'. */
  readonly usage: string;
  readonly about: string;
  readonly least: number;
  readonly most: number;
}

export interface Flag {
  readonly name: string;
  /** One letter: 'n' for -n. */
  readonly short?: string;
  /** The placeholder of the value in the help ('DIR'); absent: the flag is a switch. */
  readonly value?: string;
  readonly about: string;
  /** What holds without the flag, as shown in the help. */
  readonly default?: string;
  /** The only values that are accepted. */
  readonly oneOf?: readonly string[];
  /** The flag may be given several times. Absent: the last one counts. */
  readonly repeatable?: boolean;
}

export interface Example {
  readonly line: string;
  readonly about: string;
}

export interface FlagValues {
  text(name: string): string | undefined;
  /** Of a flag that may be given several times. */
  all(name: string): readonly string[];
  on(name: string): boolean;
  /** The arguments that are not flags, in order. */
  readonly arguments: readonly string[];
}

/** The command line is wrong; the message says what would be right. */
export class UsageError extends Error {}

export interface Program {
  /** Of a group: 'moor csi'. */
  readonly name?: string;
  /** Of a group, in place of the program's. */
  readonly about?: string;
  readonly commands: readonly CommandEntry[];
  readonly version: string;
  out(text: string): void;
  err(text: string): void;
}

/** Runs `moor ARGS…` and resolves with the exit code. */
export async function runProgram(program: Program, args: readonly string[]): Promise<ExitCode> {
  const { name: programName = 'moor' } = program;
  const [name, ...rest] = args;
  const entryOf = (text: string | undefined) => program.commands.find((each) => each.name === text || each.aliases?.includes(text ?? ''));
  const isHelp = name === undefined || name === '--help' || name === '-h' || name === 'help';
  const [topic] = rest.filter((word) => !word.startsWith('-'));
  if (isHelp && topic === undefined) {
    program.out(programHelp(program));
    return exitCodes.success;
  }
  if (name === '--version' || name === '-v') {
    program.out(`${program.version}\n`);
    return exitCodes.success;
  }
  const wanted = (isHelp ? topic : name) ?? '';
  const entry = entryOf(wanted);
  if (entry === undefined) {
    const near =
      namedElsewhere(program.commands, wanted) ??
      nearestName(
        wanted,
        program.commands.map((each) => each.name),
      );
    program.err(`${programName}: there is no command "${wanted}"${near ? `; did you mean "${near}"?` : ''}\nRun "${programName} --help" for the list.\n`);
    return exitCodes.wrongUsage;
  }
  // A group has help of its own for each of its commands.
  return runEntry({ program, entry, args: isHelp ? ['--help', ...rest.slice(rest.indexOf(wanted) + 1)] : rest });
}

const namedElsewhere = (commands: readonly CommandEntry[], word: string): string | undefined =>
  commands.find(({ elsewhere }) => elsewhere?.includes(word))?.name;
async function runEntry({ program, entry, args }: { program: Program; entry: CommandEntry; args: readonly string[] }): Promise<ExitCode> {
  const command = await entry.load();
  const name = `${program.name ?? 'moor'} ${entry.name}`;
  if (isGroup(command)) return runProgram({ ...program, ...command, name }, args);
  // What follows -- belongs to another program.
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  if (own.includes('--help') || own.includes('-h')) {
    program.out(commandHelp(name, command));
    return exitCodes.success;
  }
  try {
    return await command.run(parseFlags(command, args));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    program.err(`${name}: ${error.message}\nRun "${name} --help" for its flags.\n`);
    return exitCodes.wrongUsage;
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
  const repeated = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const flag = known.get(token.name);
    if (!flag) {
      const near = nearestName(token.name, known.keys());
      throw new UsageError(`there is no flag ${token.rawName}${near ? `; did you mean --${near}?` : ''}`);
    }
    const value = flagValue(flag, token.value);
    values.set(flag.name, value);
    if (flag.repeatable === true) repeated.set(flag.name, [...(repeated.get(flag.name) ?? []), value]);
  }
  const given = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  return {
    text: (name) => values.get(name),
    all: (name) => repeated.get(name) ?? [],
    on: (name) => values.get(name) === 'true',
    arguments: checkedArguments(command, given),
  };
}

const parsedFlag = ({ name, short, value }: Flag) =>
  [name, { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short === undefined ? {} : { short }) }] as const;

function checkedArguments({ arguments: taken }: Command, given: readonly string[]): readonly string[] {
  const tooMuch = given[taken?.most ?? 0];
  if (tooMuch !== undefined) throw new UsageError(`unexpected argument "${tooMuch}"`);
  if (taken !== undefined && given.length < taken.least) throw new UsageError(`${taken.usage.split(' ')[given.length]} is missing: ${taken.about}`);
  return given;
}

function flagValue(flag: Flag, given: string | undefined): string {
  if (flag.value === undefined) {
    if (given === undefined || given === 'true') return 'true';
    if (given === 'false') return 'false';
    throw new UsageError(`--${flag.name} takes no value but =true or =false`);
  }
  if (given === undefined || given === '') throw new UsageError(`--${flag.name} needs a value: --${flag.name} ${flag.value}`);
  if (flag.oneOf && !flag.oneOf.includes(given)) throw new UsageError(`--${flag.name} must be one of ${flag.oneOf.join(', ')}, not "${given}"`);
  return given;
}

function programHelp({ commands, name = 'moor', about }: Program): string {
  const width = Math.max(...commands.map((each) => each.name.length));
  return [
    about ?? 'moor: Kubernetes storage on one machine, behind the Kubernetes API.',
    '',
    'Commands',
    ...commands.map((each) => `  ${each.name.padEnd(width)}  ${each.summary}`),
    '',
    ...(about === undefined ? firstSteps : []),
    `"${name} COMMAND --help" explains a command.`,
    '',
  ].join('\n');
}

const firstSteps = [
  'First steps',
  '  moor up                                            start a cluster in the foreground',
  '  export KUBECONFIG=…                                the ready screen shows the path',
  '  kubectl get namespaces                             every kubectl command works',
  '',
];

function commandHelp(name: string, { arguments: taken, about, flags, examples }: Command): string {
  const heads = flags.map((flag) => `${flag.short === undefined ? '' : `-${flag.short}, `}--${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}`);
  const width = Math.max(0, ...heads.map((head) => head.length));
  const lines = flags.map((flag, i) => {
    const text = flag.default === undefined ? flag.about : `${flag.about} (default: ${flag.default})`;
    return `  ${(heads[i] ?? '').padEnd(width)}  ${text}`;
  });
  const codes = meaningsOf(name.replace(/^moor /, ''));
  return [
    `${name}${taken === undefined ? '' : ` ${taken.usage}`} [flags]`,
    '',
    ...(taken === undefined ? [] : [`${taken.usage}: ${taken.about}`, '']),
    about,
    ...(lines.length > 0 ? ['', 'Flags', ...lines] : []),
    ...(codes.length > 0 ? ['', 'Exit codes', ...codes.map(([code, meaning]) => `  ${code}  ${meaning}`)] : []),
    ...(examples.length > 0 ? ['', 'Examples', ...examples.flatMap((example) => [`  # ${example.about}`, `  ${example.line}`])] : []),
    '',
  ].join('\n');
}
