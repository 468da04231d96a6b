/** A set of access modes, one bit each: a search for a volume compares sets thousands of times. */
export type AccessModes = number;

const modes = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'] as const;
const bits: ReadonlyMap<string, number> = new Map(modes.map((mode, i) => [mode, 1 << i]));
/** An unknown mode: a claim that requests it is never satisfied, a volume that offers it offers nothing by it. */
const unknownMode = 1 << modes.length;

export function requestedModes(asked: readonly string[] | undefined): AccessModes {
  return (asked ?? []).reduce((set, mode) => set | (bits.get(mode) ?? unknownMode), 0);
}

export function offeredModes(offered: readonly string[] | undefined): AccessModes {
  return (offered ?? []).reduce((set, mode) => set | (bits.get(mode) ?? 0), 0);
}

/** Whether every requested mode is offered. */
export const offersModes = (offered: AccessModes, asked: AccessModes): boolean => (offered & asked) === asked;

export function countModes(set: AccessModes): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** 'ReadWriteOnce, ReadOnlyMany' */
export function showModes(set: AccessModes): string {
  const shown: string[] = modes.filter((_, i) => (set & (1 << i)) !== 0);
  if ((set & unknownMode) !== 0) shown.push('an unknown mode');
  return shown.length === 0 ? 'none' : shown.join(', ');
}
