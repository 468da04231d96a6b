import { parseArgs } from 'node:util';

/** One command of `moor`, described once: parsing, errors and help follow from it. */
export interface Command {
  readonly name: string;
  /** One line, shown in the list of commands. */
  readonly summary: string;
  /** A paragraph or two for `moor NAME --help`. */
  readonly about: string;
  readonly flags: readonly Flag[];
  readonly examples: readonly Example[];
  /** Resolves with the exit code. */
  run(flags: FlagValues): Promise<number>;
}

export interface Flag {
  readonly name: string;
  /** What stands for the value in the help ('DIR'); absent: the flag is a switch. */
  readonly value?: string;
  readonly about: string;
  /** What happens without the flag, as the help says it. */
  readonly otherwise?: string;
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
    const near = nearest(
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
    options: Object.fromEntries(command.flags.map((f) => [f.name, { type: f.value === undefined ? 'boolean' : 'string' }] as const)),
  });
  const values = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind === 'positional') throw new UsageError(`it takes no argument "${token.value}"`);
    if (token.kind !== 'option') continue;
    const flag = known.get(token.name);
    if (!flag) {
      const near = nearest(token.name, [...known.keys()]);
      throw new UsageError(`there is no flag ${token.rawName}${near ? `; did you mean --${near}?` : ''}`);
    }
    values.set(flag.name, flagValue(flag, token.value));
  }
  return { text: (name) => values.get(name), on: (name) => values.get(name) === 'true' };
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
  const heads = command.flags.map((f) => `--${f.name}${f.value === undefined ? '' : ` ${f.value}`}`);
  const width = Math.max(0, ...heads.map((h) => h.length));
  const flags = command.flags.map((f, i) => {
    const about = f.otherwise === undefined ? f.about : `${f.about} (otherwise: ${f.otherwise})`;
    return `  ${(heads[i] ?? '').padEnd(width)}  ${about}`;
  });
  return [
    `moor ${command.name}: ${command.summary}`,
    '',
    command.about,
    ...(flags.length > 0 ? ['', 'Flags', ...flags] : []),
    ...(command.examples.length > 0 ? ['', 'Examples', ...command.examples.flatMap((e) => [`  # ${e.about}`, `  ${e.line}`])] : []),
    '',
  ].join('\n');
}

/** The known word that differs least from what was typed, if it differs little. */
function nearest(typed: string, words: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const word of words) {
    const d = editDistance(typed, word);
    if (d < bestDistance) [best, bestDistance] = [word, d];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitute, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
