/**
 * The seeds of a test: 1 to `usual`. MOOR_SEEDS=20 runs twenty times as many, MOOR_SEED=17 only that one: a failure names its seed.
 */
export function seeds(usual: number): readonly number[] {
  const one = Number(process.env['MOOR_SEED'] ?? 0);
  if (one > 0) return [one];
  const count = Math.ceil(usual * Number(process.env['MOOR_SEEDS'] ?? 1));
  return Array.from({ length: count }, (_, i) => i + 1);
}
