import { type Command, type CommandEntry, type Flag, flagsOf } from './command.ts';
import { exitCodes } from './result/exit-codes.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** `moor completion`: what a shell completes after `moor`. */
export const completionCommand = (entries: readonly CommandEntry[]): Command => ({
  arguments: { usage: 'SHELL', about: 'bash, zsh or fish', least: 1, most: 1 },
  about: 'Prints a script that completes commands, flags and their values in a shell.',
  flags: [],
  examples: [
    { line: 'source <(moor completion bash)', about: 'in this bash' },
    { line: 'source <(moor completion zsh)', about: 'in this zsh' },
    { line: 'moor completion fish > ~/.config/fish/completions/moor.fish', about: 'in every fish' },
  ],
  run: async (flags) => {
    const shell = shells.find((each) => each === flags.arguments[0]);
    if (shell === undefined) {
      process.stderr.write(`moor completion: there is none for "${flags.arguments[0]}", only for ${shells.join(', ')}\n`);
      return exitCodes.wrongUsage;
    }
    const commands = await Promise.all(entries.map(async (entry) => ({ name: entry.name, summary: entry.summary, flags: await flagsOf(await entry.load()) })));
    process.stdout.write(scripts[shell](commands));
    return exitCodes.success;
  },
});

interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const words = ({ flags }: Completed): string => flags.map(({ name }) => `--${name}`).join(' ');
const choices = (commands: readonly Completed[]): readonly (readonly [string, string])[] => [
  ...new Map(commands.flatMap(({ flags }) => flags.flatMap(({ name, oneOf }) => (oneOf === undefined ? [] : [[name, oneOf.join(' ')] as const])))),
];

const bash = (commands: readonly Completed[]): string => `_moor() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=${quote(commands.map(({ name }) => name).join(' '))}
  else
    case "$before" in
${choices(commands)
  .map(([flag, values]) => `      --${flag}) COMPREPLY=($(compgen -W ${quote(values)} -- "$word")); return ;;`)
  .join('\n')}
    esac
    case "\${COMP_WORDS[1]}" in
${commands.map((command) => `      ${command.name}) words=${quote(words(command))} ;;`).join('\n')}
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
    .flatMap(({ name, summary, flags }) => [
      `complete -c moor -n __fish_use_subcommand -f -a ${name} -d ${quote(summary)}`,
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
