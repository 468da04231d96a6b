/** "%s has %d".format([…]), from cel-go's strings extension. */
import type { Environment } from '@marcbachmann/cel-js';

export function registerFormat(environment: Environment): void {
  environment.registerFunction('string.format(list): string', (text: string, given: readonly unknown[]) => format(text, given));
}

function format(text: string, given: readonly unknown[]): string {
  let next = 0;
  const formatted = text.replace(/%(?:%|(?:\.(\d{1,3}))?(.?))/gsu, (clause, precision: string | undefined, verb: string | undefined) => {
    if (clause === '%%') return '%';
    if (next >= given.length) throw new Error(`index ${next} out of range`);
    return inVerb(verb ?? '', given[next++], precision === undefined ? 6 : Number(precision));
  });
  return formatted;
}

function inVerb(verb: string, value: unknown, precision: number): string {
  switch (verb) {
    case 's':
      return plain(value);
    case 'd':
      if (typeof value === 'bigint') return value.toString();
      break;
    case 'f':
      if (isNumber(value)) return Number(value).toFixed(Math.min(precision, 100));
      break;
    case 'e':
      if (isNumber(value)) return withTwoDigits(Number(value).toExponential(Math.min(precision, 100)));
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (typeof value === 'bigint') return value.toString(2);
      break;
    case 'o':
      if (typeof value === 'bigint') return value.toString(8);
      break;
    case 'x':
    case 'X': {
      const hex = typeof value === 'bigint' ? value.toString(16) : typeof value === 'string' ? Buffer.from(value).toString('hex') : undefined;
      if (hex !== undefined) return verb === 'X' ? hex.toUpperCase() : hex;
      break;
    }
    default:
      throw new Error(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
  throw new Error(`error during formatting: no formatting clause "%${verb}" for a ${typeof value}`);
}

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';

/** 1e+0 as Go writes it: 1e+00. */
const withTwoDigits = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2');

function plain(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (Array.isArray(value)) return `[${value.map(plain).join(', ')}]`;
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return `${value as number | bigint | boolean}`;
  const own = Object.getPrototypeOf(value) as unknown;
  const entries = value instanceof Map ? [...(value as Map<unknown, unknown>)] : own === null || own === Object.prototype ? Object.entries(value) : undefined;
  if (entries === undefined) return (value as { toString(): string }).toString();
  const members = entries.map(([key, one]) => [plain(key), plain(one)] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, one]) => `${key}: ${one}`).join(', ')}}`;
}
