import type { Log, LogFields } from '../world/world.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** Lines for a terminal: '12:34:56 WARN  the message  field=value'. */
export function textLog(from: (typeof levels)[number], write: (line: string) => void, fixed: LogFields = {}): Log {
  const least = levels.indexOf(from);
  const at =
    (level: (typeof levels)[number]) =>
    (message: string, fields: LogFields = {}): void => {
      if (levels.indexOf(level) < least) return;
      const facts = Object.entries({ ...fixed, ...fields }).map(([name, value]) => `  ${name}=${textOf(value)}`);
      write(`${new Date().toTimeString().slice(0, 8)} ${level.toUpperCase().padEnd(5)} ${escaped(message)}${facts.join('')}\n`);
    };
  return {
    debugs: least === 0,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => textLog(from, write, { ...fixed, ...fields }),
  };
}

function textOf(value: unknown): string {
  const text = value instanceof Error ? value.message : typeof value === 'string' ? value : JSON.stringify(value);
  return /^[!#-~]+$/.test(text) ? text : escaped(JSON.stringify(text));
}

/** Without characters that a terminal takes for commands, for a line break or for a change of the direction of writing. */
const escaped = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x20 ? JSON.stringify(character).slice(1, -1) : `\\u${code > 0xffff ? `{${code.toString(16)}}` : code.toString(16).padStart(4, '0')}`;
  });
