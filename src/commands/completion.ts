import { type Command, type CommandEntry, commandsIn, type Flag } from './command.ts';
import { exitCodes } from './result/exit-codes.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** `moor completion`: what a shell completes after `moor`. */
export const completionCommand = (entries: readonly CommandEntry[]): Command => ({
  arguments: { usage: 'SHELL', about: 'bash, zsh or fish', least: 1, most: 1 },
  about: 'Prints a script that completes commands, flags, their values and the names of clusters in a shell.',
  flags: [],
  examples: [
    { line: 'source <(moor completion bash)', about: 'in this bash' },
    { line: 'source <(moor completion zsh)', about: 'in this zsh, once its compinit has run' },
    { line: 'moor completion fish > ~/.config/fish/completions/moor.fish', about: 'in every fish' },
  ],
  run: async (flags) => {
    const shell = shells.find((each) => each === flags.arguments[0]);
    if (shell === undefined) {
      process.stderr.write(`moor completion: there is none for "${flags.arguments[0]}", only for ${shells.join(', ')}\n`);
      return exitCodes.wrongUsage;
    }
    process.stdout.write(scripts[shell](await Promise.all(entries.map(completedOf))));
    return exitCodes.success;
  },
});

interface Completed {
  readonly name: string;
  readonly summary: string;
  /** Of a group: the words after it, 'snapshot' and 'save'. */
  readonly nested: readonly string[];
  /** Of a command, or of all commands of a group. */
  readonly flags: readonly Flag[];
  /** Whether a cluster's name is among the arguments. */
  readonly takesCluster: boolean;
}

async function completedOf(entry: CommandEntry): Promise<Completed> {
  const commands = await commandsIn([entry]);
  const nested = commands.flatMap(([name]) => name.split(' ').slice(1));
  const flags = new Map(commands.flatMap(([, { flags: own }]) => own).map((flag) => [flag.name, flag]));
  return {
    name: entry.name,
    summary: entry.summary,
    nested: [...new Set(nested)],
    flags: [...flags.values()],
    takesCluster: commands.some(([, { arguments: taken }]) => taken?.usage.includes('[NAME]') === true),
  };
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const words = ({ nested, flags }: Completed): string => [...nested, ...flags.map(({ name }) => `--${name}`)].join(' ');

/** The command and its flag, as patterns of the shell, and the values of that flag. */
const choices = (commands: readonly Completed[]): readonly (readonly [pattern: string, values: string])[] =>
  commands.flatMap((command) =>
    command.flags.flatMap(({ name, short, oneOf = [] }) => {
      const spellings = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
      return oneOf.length === 0 ? [] : [[spellings.map((flag) => `'${command.name} ${flag}'`).join('|'), oneOf.join(' ')] as const];
    }),
  );

const named = (commands: readonly Completed[]): readonly string[] => commands.filter(({ takesCluster }) => takesCluster).map(({ name }) => name);
/** The first column of `moor list`, without its head and what has no name. */
const clusterNames = `moor list 2>/dev/null | sed -n -e '1d' -e '/^<none>/d' -e 's/ .*//p'`;

const bash = (commands: readonly Completed[]): string => `_moor() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ] || [ "\${COMP_WORDS[1]}" = help ]; then
    words=${quote([...commands.map(({ name }) => name), 'help'].join(' '))}
  else
    case "\${COMP_WORDS[1]} $before" in
${choices(commands)
  .map(([pattern, values]) => `      ${pattern}) COMPREPLY=($(compgen -W ${quote(values)} -- "$word")); return ;;`)
  .join('\n')}
    esac
    case "\${COMP_WORDS[1]}" in
${commands.map((command) => `      ${command.name}) words=${quote(words(command))} ;;`).join('\n')}
    esac
    case "\${COMP_WORDS[1]} $word" in
      *' -'*) ;;
      ${named(commands)
        .map((name) => `${name}' '*`)
        .join('|')}) words="$words $(${clusterNames})" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _moor moor
`;

const zsh = (commands: readonly Completed[]): string => `#compdef moor
autoload -U +X bashcompinit && bashcompinit
${bash(commands)}`;

const fish = (commands: readonly Completed[]): string =>
  `${commands
    .flatMap(({ name, summary, nested, flags, takesCluster }) => [
      `complete -c moor -n __fish_use_subcommand -f -a ${name} -d ${quote(summary)}`,
      ...(nested.length === 0 ? [] : [`complete -c moor -n '__fish_seen_subcommand_from ${name}' -f -a ${quote(nested.join(' '))}`]),
      ...(takesCluster ? [`complete -c moor -n '__fish_seen_subcommand_from ${name}' -a "(${clusterNames})"`] : []),
      ...flags.map(({ name: flag, short, value, about, oneOf }) =>
        [
          `complete -c moor -n '__fish_seen_subcommand_from ${name}' -l ${flag}`,
          ...(short === undefined ? [] : [`-s ${short}`]),
          ...(value === undefined ? [] : [oneOf === undefined ? '-r' : `-x -a ${quote(oneOf.join(' '))}`]),
          `-d ${quote(about)}`,
        ].join(' '),
      ),
    ])
    .join('\n')}\n`;

const scripts = { bash, zsh, fish } as const;
