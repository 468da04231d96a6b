/** Scores end between 0 and this. */
export const bestScore = 100;

/** Scales counts so that the highest becomes the best score; `reverse`: the worst, and none at all the best. */
export function normalised(counts: readonly number[], { reverse }: { readonly reverse: boolean }): readonly number[] {
  const highest = counts.reduce((most, count) => Math.max(most, count), 0);
  if (highest === 0) return reverse ? counts.map(() => bestScore) : counts;
  return counts.map((count) => {
    const score = Math.trunc((bestScore * count) / highest);
    return reverse ? bestScore - score : score;
  });
}
