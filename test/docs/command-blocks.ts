/**
 * The command blocks of a page: fenced blocks of a shell's language, and others with a line that begins with '$ '.
 *
 * A comment before a block says how the test treats it:
 *
 *   <!-- test: the first command keeps running -->   it is started in the background; the others follow when it is ready
 *   <!-- test: not run, REASON -->                   REASON is one of `reasons`
 *   <!-- test: file NAME -->                         the block is the text of a file, for the commands that follow
 */
import { spawnSync } from 'node:child_process';

/** Why a block is not run. */
export const reasons = [
  // It installs the packages that the test runs with.
  'a fresh clone',
  // It runs tests, which would run this one again.
  'the suite itself',
  // It needs programs that Mooring does not.
  'other programs',
] as const;
type Reason = (typeof reasons)[number];

export interface TypedCommand {
  readonly line: number;
  readonly text: string;
  /** The output that the page shows; absent: none. */
  readonly shown?: readonly string[];
  readonly keepsRunning: boolean;
}

export type Block =
  | { readonly kind: 'commands'; readonly line: number; readonly commands: readonly TypedCommand[] }
  | { readonly kind: 'excused'; readonly line: number; readonly reason: Reason; readonly commands: readonly TypedCommand[] }
  | { readonly kind: 'file'; readonly line: number; readonly name: string; readonly text: string };

interface Fence {
  readonly line: number;
  readonly language: string;
  readonly lines: readonly string[];
  /** The text of the comment before it. */
  readonly comment?: string;
}

const shells = ['sh', 'bash', 'shell', 'zsh', 'console'];

/** The blocks that concern the test, in the order of the page. Throws for a comment or a block that it cannot place. */
export function blocksOf(page: string, text: string): readonly Block[] {
  const { fences, strayComments } = fencesOf(text);
  const [stray] = strayComments;
  if (stray !== undefined) throw new Error(`${page}:${stray}: a comment for the test that no block follows`);
  return fences.flatMap((fence) => {
    try {
      return blockOf(fence) ?? [];
    } catch (error) {
      throw new Error(`${page}:${fence.line}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  });
}

function blockOf({ line, language, lines, comment }: Fence): Block | undefined {
  const file = comment === undefined ? undefined : /^file ([\w.-]+)$/.exec(comment)?.[1];
  if (file !== undefined) return { kind: 'file', line, name: file, text: `${lines.join('\n')}\n` };
  const isTyped = lines.some((each) => each.startsWith('$ '));
  if (!isTyped && !shells.includes(language)) {
    if (comment !== undefined) throw new Error(`"${comment}" before a block that has no commands`);
    return undefined;
  }
  const firstRuns = comment === 'the first command keeps running';
  const commands = (isTyped ? typedCommands(lines, line + 1) : scriptCommands(lines, line + 1)).map((each, index) => ({
    ...each,
    keepsRunning: firstRuns && index === 0,
  }));
  if (commands.length === 0) throw new Error('a block of commands without a command');
  if (comment !== undefined && !firstRuns) return { kind: 'excused', line, reason: reasonOf(comment), commands };
  const foreground = commands.find((each) => !each.keepsRunning && staysInForeground(each.text));
  if (foreground !== undefined)
    throw new Error(`"${foreground.text}" stays in the foreground: add --detach, or "<!-- test: the first command keeps running -->" before the block`);
  return { kind: 'commands', line, commands };
}

function reasonOf(comment: string): Reason {
  const reason = reasons.find((each) => comment === `not run, ${each}`);
  if (reason === undefined)
    throw new Error(`"${comment}" is none of: the first command keeps running, file NAME, ${reasons.map((each) => `not run, ${each}`).join(', ')}`);
  return reason;
}

const staysInForeground = (text: string): boolean =>
  /^(npx )?moor (up|server|node|cloud|controllers|scheduler|csi serve)\b|^npm (start|run dev)\b/.test(text) &&
  !/ (--detach|-d|--help|--down)\b| &( *#.*)?$/.test(text);

/** Of a block in which commands follow a prompt: what lies between two of them is the output of the first. */
function typedCommands(lines: readonly string[], first: number): readonly Omit<TypedCommand, 'keepsRunning'>[] {
  if (lines[0]?.startsWith('$ ') !== true) throw new Error('a block with "$ " begins with a command');
  const found: { line: number; text: string; shown: string[] }[] = [];
  for (const [index, line] of lines.entries()) {
    const last = found.at(-1);
    if (line.startsWith('$ ')) found.push({ line: first + index, text: line.slice(2), shown: [] });
    else if (last !== undefined && last.shown.length === 0 && !isComplete(last.text)) last.text += `\n${line}`;
    else last?.shown.push(line);
  }
  return found.map(({ line, text, shown }) => (shown.length === 0 ? { line, text } : { line, text, shown }));
}

/** Of a block that is a script. */
function scriptCommands(lines: readonly string[], first: number): readonly Omit<TypedCommand, 'keepsRunning'>[] {
  const found: { line: number; text: string }[] = [];
  for (const [index, line] of lines.entries()) {
    const last = found.at(-1);
    if (last !== undefined && !isComplete(last.text)) last.text += `\n${line}`;
    else if (!/^\s*(#|$)/.test(line)) found.push({ line: first + index, text: line });
  }
  return found;
}

/** Whether bash would not wait for more lines: a here-document without its end is a warning to bash. */
function isComplete(text: string): boolean {
  const { status, stderr } = spawnSync('bash', ['-n'], { input: `${text}\n`, encoding: 'utf8' });
  return status === 0 && stderr === '' && !text.endsWith('\\');
}

function fencesOf(text: string): { readonly fences: readonly Fence[]; readonly strayComments: readonly number[] } {
  const fences: Fence[] = [];
  const strayComments: number[] = [];
  let open: { line: number; language: string; end: RegExp; indent: number; lines: string[]; comment?: string } | undefined;
  let comment: { line: number; text: string } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (open !== undefined) {
      if (open.end.test(line)) {
        fences.push(open);
        open = undefined;
      } else open.lines.push(line.slice(open.indent));
      continue;
    }
    const fence = /^(\s*)(`{3,}|~{3,})\s*([\w-]*)/.exec(line);
    if (fence !== null) {
      const [, indent = '', marks = '', language = ''] = fence;
      open = {
        line: index + 1,
        language,
        end: new RegExp(`^\\s*${marks[0]}{${marks.length},}\\s*$`),
        indent: indent.length,
        lines: [],
        ...(comment === undefined ? {} : { comment: comment.text }),
      };
      comment = undefined;
    } else if (line.trim() !== '') {
      if (comment !== undefined) strayComments.push(comment.line);
      const found = /^\s*<!--\s*test:(.*)-->\s*$/.exec(line)?.[1];
      comment = found === undefined ? undefined : { line: index + 1, text: found.trim() };
    }
  }
  if (comment !== undefined) strayComments.push(comment.line);
  if (open !== undefined) throw new Error(`the block of line ${open.line} has no end`);
  return { fences, strayComments };
}
