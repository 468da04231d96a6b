/** Taints and tolerations: one rule for scheduler, taint eviction, kubelet and `moor why`. */
import type { Taint, Toleration } from './generated/types.ts';

/** Taints are identified by key and effect, not by value. */
export const isSameTaint = (a: Pick<Taint, 'key' | 'effect'>, b: Pick<Taint, 'key' | 'effect'>): boolean => a.key === b.key && a.effect === b.effect;

/** An empty field of a toleration matches everything. An unknown operator tolerates nothing. */
export function toleratesTaint({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}

/** For each taint the first toleration that fits, in the order of the taints. Undefined: one of them is not tolerated. */
export function tolerationsFor(taints: readonly Taint[], tolerations: readonly Toleration[]): readonly Toleration[] | undefined {
  const used: Toleration[] = [];
  for (const taint of taints) {
    const fitting = tolerations.find((toleration) => toleratesTaint(toleration, taint));
    if (fitting === undefined) return undefined;
    used.push(fitting);
  }
  return used;
}
