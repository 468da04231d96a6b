/** Errors of CEL expressions, as far as possible in cel-go's words. */

/** An expression does not compile, or failed. */
export class ExpressionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ExpressionError';
  }
}

interface Located {
  readonly code?: string;
  readonly summary?: string;
  readonly message: string;
  readonly range?: { readonly start: number; readonly end: number };
  readonly name: string;
  readonly node?: { readonly op?: string; readonly args?: unknown };
}

/** From an error while parsing, checking or running an expression. */
export function expressionError(error: unknown, text: string): ExpressionError {
  if (error instanceof ExpressionError) return error;
  if (!(error instanceof Error)) return new ExpressionError(String(error));
  const { name } = error;
  if (name === 'ParseError' || name === 'TypeError') return new ExpressionError(compileText(error, text));
  return new ExpressionError(runText(error));
}

function runText(error: Located): string {
  const summary = summaryOf(error);
  if (error.code === 'index_out_of_bounds') return `index out of bounds: ${/index (-?\d+)/.exec(summary)?.[1] ?? ''}`;
  return summary.replace(/^No such/, 'no such');
}

/** `matches` has another name inside (cel/environment.ts). */
const summaryOf = ({ summary, message }: Located): string => (summary ?? message.split('\n')[0] ?? '').replaceAll('matchesPattern', 'matches');

/** 'ERROR: <input>:1:8: undefined field …', the line, and where in it. */
function compileText(error: Located, text: string): string {
  const { problem, at } = problemOf(error, text);
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = at - (before.lastIndexOf('\n') + 1);
  const shown = text.split('\n')[line - 1] ?? '';
  return `ERROR: <input>:${line}:${column + 1}: ${problem}\n | ${shown}\n | ${'.'.repeat(column)}^`;
}

interface Problem {
  readonly problem: string;
  /** The offset in the text. */
  readonly at: number;
}

function problemOf(error: Located, text: string): Problem {
  const summary = summaryOf(error);
  const at = Math.min(error.range?.start ?? 0, text.length);
  const name = summary.includes(': ') ? summary.slice(summary.indexOf(': ') + 2) : '';
  switch (error.code) {
    case 'unknown_variable':
      return { problem: `undeclared reference to '${name}' (in container '')`, at };
    case 'no_such_key':
      // cel-go reports the position of the dot.
      return { problem: `undefined field '${name}'`, at: Math.max(at - 1, 0) };
    case 'no_such_overload':
      return wrongOperands(error, summary, text) ?? { problem: summary, at };
    default:
      return { problem: error.name === 'ParseError' ? `Syntax error: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}` : summary, at };
  }
}

const binary = /^no such overload: (\S+) (==|!=|<=|>=|[-+*/%<>]|in) (\S+)$/;

function wrongOperands(error: Located, summary: string, text: string): Problem | undefined {
  const [, left, operator = '', right] = binary.exec(summary) ?? [];
  const [first] = (Array.isArray(error.node?.args) ? error.node.args : []) as { readonly range?: { readonly end: number } }[];
  if (left === undefined || first?.range === undefined) return undefined;
  const named = operator === 'in' ? '@in' : `_${operator}_`;
  return { problem: `found no matching overload for '${named}' applied to '(${left}, ${right})'`, at: text.indexOf(operator, first.range.end) };
}
