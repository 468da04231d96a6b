import { describe, expect, it } from 'vitest';
import { normalizeTime } from './time.ts';

describe('times as Go reads them', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T03:04:05.999Z', '2026-01-02T03:04:05Z'],
    ['2026-01-02T3:04:05Z', '2026-01-02T03:04:05Z'],
    ['2024-02-29T00:00:00+14:00', '2024-02-28T10:00:00Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
    ['0050-06-01T00:00:00Z', '0050-06-01T00:00:00Z'],
    ['0001-01-01T00:00:00Z', null],
    ['0001-01-01T01:00:00+01:00', null],
  ])('%s → %s', (given, printed) => {
    expect(normalizeTime(given, 'Time')).toBe(printed);
  });

  it.each([
    ['', 'parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006"'],
    ['2026-1-02T03:04:05Z', 'parsing time "2026-1-02T03:04:05Z" as "2006-01-02T15:04:05Z07:00": cannot parse "1-02T03:04:05Z" as "01"'],
    ['2026-13-02T03:04:05Z', 'parsing time "2026-13-02T03:04:05Z": month out of range'],
    ['2026-04-31T03:04:05Z', 'parsing time "2026-04-31T03:04:05Z": day out of range'],
    ['2026-01-02T24:04:05Z', 'parsing time "2026-01-02T24:04:05Z": hour out of range'],
    ['2026-01-02T03:04:60Z', 'parsing time "2026-01-02T03:04:60Z": second out of range'],
    ['2026-01-02T03:04:05', 'parsing time "2026-01-02T03:04:05" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'],
    ['2026-01-02T03:04:05Zé', 'parsing time "2026-01-02T03:04:05Z\\xc3\\xa9": extra text: "\\xc3\\xa9"'],
  ])('%s is refused', (given, message) => {
    expect(() => normalizeTime(given, 'Time')).toThrow(message);
  });

  it('micro times have six decimals', () => {
    expect(normalizeTime('2026-01-02T03:04:05.000006+01:00', 'MicroTime')).toBe('2026-01-02T02:04:05.000006Z');
    expect(() => normalizeTime('2026-01-02T03:04:05.5Z', 'MicroTime')).toThrow('cannot parse ".5Z" as ".000000"');
  });
});
