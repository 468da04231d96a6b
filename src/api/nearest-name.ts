/** Suggestions for a mistyped word: the known words with the least edit distance, the nearest first. */
export function nearestNames(typed: string, words: Iterable<string>, most = 3): readonly string[] {
  // In a long name a few different letters are a slip; in a short one they make another word.
  const bound = Math.min(3, Math.max(2, Math.floor(typed.length / 3)));
  return [...new Set(words)]
    .map((word) => ({ word, distance: isPartOf(typed, word) ? 1 : editDistance(typed, word) }))
    .filter(({ distance }) => distance <= bound)
    .sort((a, b) => a.distance - b.distance || (a.word < b.word ? -1 : 1))
    .slice(0, most)
    .map(({ word }) => word);
}

export const nearestName = (typed: string, words: Iterable<string>): string | undefined => nearestNames(typed, words, 1)[0];

/** A search for 'data-db-0' finds 'data', and the other way round. */
function isPartOf(typed: string, word: string): boolean {
  const [short, long] = typed.length < word.length ? [typed, word] : [word, typed];
  return short.length >= 3 && long.length <= maxLength && (long.startsWith(`${short}-`) || long.endsWith(`-${short}`));
}

/** Nothing in Kubernetes has a longer name; comparing takes time that grows with the square. */
const maxLength = 253;

function editDistance(a: string, b: string): number {
  if (Math.max(a.length, b.length) > maxLength) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitute, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
