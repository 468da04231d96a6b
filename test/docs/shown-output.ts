/** Compares the output that a page shows with the real one: equal but for what differs with each run. A line '…' stands for any lines. */

const changing: readonly (readonly [RegExp, string])[] = [
  // The log, which is not shown on a terminal.
  [/^\{"level":.*\n?/gm, ''],
  [/\b127\.0\.0\.1:\d+/g, '127.0.0.1:PORT'],
  // The address of a pod, and which of equal nodes it has.
  [/\b10\.\d+\.\d+\.\d+(?: {2,}node-\d+)?/g, 'IP'],
  // Names that the server draws, and the random part of a pod's.
  [/\bpvc-[0-9a-f]{8}/g, 'pvc-ID'],
  [/(-[0-9a-z]{8,10})-[0-9a-z]{5}\b/g, '$1-ID'],
  // The age in a table.
  [/(?<=\S {2,})\d+s(?= {2,}|$)/gm, 'AGE'],
  // The width of a column follows from what is in it.
  [/(?<=\S) {2,}/g, '  '],
  [/[ \t]+$/gm, ''],
];

export const withoutChanging = (text: string): string => changing.reduce((result, [pattern, name]) => result.replace(pattern, name), text).trim();

export function isAsShown(shown: readonly string[], output: string): boolean {
  const pattern = withoutChanging(shown.join('\n'))
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : `${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\n`))
    .join('');
  return new RegExp(`^${pattern}$`).test(`${withoutChanging(output)}\n`);
}
