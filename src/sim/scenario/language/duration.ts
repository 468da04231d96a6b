import { PhraseError } from './phrase.ts';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** '90s', '6m30s', '1h'; a plain number is seconds. In milliseconds; undefined: the text is no duration. */
export function parseDuration(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  if (!/^(?:\d{1,9}(?:\.\d{1,3})?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  return [...text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)].reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0), 0);
}

/** '0s', '1.2s', '6m32s', '1h5m': tenths of a second only where they matter. */
export function formatDuration(ms: number): string {
  if (ms < 10_000 && ms % 1000 !== 0) return `${Math.floor(ms / 100) / 10}s`;
  const seconds = Math.floor(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  return parts.flatMap(([count, unit]) => (count === 0 ? [] : [`${count}${unit}`])).join('') || '0s';
}

/** @throws PhraseError */
export function durationOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new PhraseError(`"${text}" is no time; one is 90s, 6m30s or 1h`);
  return ms;
}
