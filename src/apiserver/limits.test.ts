import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defaultLimits } from './limits.ts';

const units: Readonly<Record<string, number>> = { s: 1_000, KiB: 1024, MiB: 1024 * 1024, MB: 1, '': 1 };

/** '3 MiB', '10,000', '15 s' */
function valueOf(text: string): number {
  const [, digits = '', unit = ''] = /^([\d,]+) ?(\w*)$/.exec(text) ?? [];
  return Number(digits.replaceAll(',', '')) * (units[unit] ?? Number.NaN);
}

test('docs/PROTECTION.md has every limit with its value', () => {
  const text = readFileSync(new URL('../../docs/PROTECTION.md', import.meta.url), 'utf8');
  const rows = text.matchAll(/^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$/gm);
  expect(Object.fromEntries(Array.from(rows, ([, name = '', value = '']) => [name, valueOf(value.trim())]))).toEqual(defaultLimits);
});
