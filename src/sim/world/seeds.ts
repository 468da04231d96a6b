/**
 * The seeds that a test tries: 1 to `usual`. More of them with MOOR_SEEDS=20 (twenty times as many), and one alone with
 * MOOR_SEED=17: the number that a failure names.
 */
export function seeds(usual: number): readonly number[] {
  const one = Number(process.env['MOOR_SEED'] ?? 0);
  if (one > 0) return [one];
  const count = Math.ceil(usual * Number(process.env['MOOR_SEEDS'] ?? 1));
  return Array.from({ length: count }, (_, i) => i + 1);
}
