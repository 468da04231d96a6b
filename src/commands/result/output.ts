/** `-o json`: what a command prints, for programs. */
import type { Flag, FlagValues } from '../command.ts';

export type Output = 'text' | 'json';

export const outputFlag: Flag = {
  name: 'output',
  short: 'o',
  value: 'FORMAT',
  about: 'text, or json for programs',
  oneOf: ['text', 'json'],
  default: 'text',
};

export const outputOf = (flags: FlagValues): Output => (flags.text('output') === 'json' ? 'json' : 'text');

/** JSON in several lines, or in one for a stream of answers. */
export const jsonText = (data: unknown, form: 'page' | 'line' = 'page'): string => `${JSON.stringify(data, null, form === 'page' ? 2 : 0)}\n`;

/** Prints data on standard output: as JSON, or as the text that is made of it. */
export function printData<T>(output: Output, data: T, text: (data: T) => string): void {
  process.stdout.write(output === 'json' ? jsonText(data) : text(data));
}
