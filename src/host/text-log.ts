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
      write(`${new Date().toTimeString().slice(0, 8)} ${level.toUpperCase().padEnd(5)} ${message}${facts.join('')}\n`);
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
  return /^[^\s"]+$/.test(text) ? text : JSON.stringify(text);
}
