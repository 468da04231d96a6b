/** Durations as Go's time.ParseDuration reads them: '1h30m', '-1.5s', '0'. */

type ParsedDuration = { readonly seconds: number; readonly problem?: undefined } | { readonly problem: string };

const secondsOf: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-9],
  ['us', 1e-6],
  ['µs', 1e-6],
  ['μs', 1e-6],
  ['ms', 1e-3],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
]);

/** The problem is in Go's words. Amounts are read one by one: an expression for the whole text could divide its digits in many ways, and would try all of them. */
export function parseGoDuration(text: string): ParsedDuration {
  const shown = JSON.stringify(text);
  const sign = text.startsWith('-') ? -1 : 1;
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return { seconds: 0 };
  const step = /(\d+(?:\.\d*)?|\.\d+)([^\d.]*)/y;
  let seconds = 0;
  do {
    const [, amount, unit] = step.exec(unsigned) ?? [];
    if (amount === undefined || unit === undefined) return { problem: `time: invalid duration ${shown}` };
    if (unit === '') return { problem: `time: missing unit in duration ${shown}` };
    const length = secondsOf.get(unit);
    if (length === undefined) return { problem: `time: unknown unit ${JSON.stringify(unit)} in duration ${shown}` };
    seconds += Number(amount) * length;
  } while (step.lastIndex < unsigned.length);
  return { seconds: sign * seconds };
}
