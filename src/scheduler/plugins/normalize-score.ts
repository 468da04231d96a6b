/** MaxNodeScore: scores are between 0 and this. */
export const maxNodeScore = 100;

/** DefaultNormalizeScore: scales the highest count to the maximum; `reverse`: to 0. */
export function normalizeScore(counts: readonly number[], { reverse }: { readonly reverse: boolean }): readonly number[] {
  const highest = counts.reduce((most, count) => Math.max(most, count), 0);
  if (highest === 0) return reverse ? counts.map(() => maxNodeScore) : counts;
  return counts.map((count) => {
    const score = Math.trunc((maxNodeScore * count) / highest);
    return reverse ? maxNodeScore - score : score;
  });
}
