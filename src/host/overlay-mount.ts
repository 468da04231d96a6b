import { mkdirSync, rmdirSync } from 'node:fs';
import { type MountAttribute, mostParameterBytes, newMount, newMountAt } from './mount-calls.ts';

export interface Overlay {
  /** Directories, the uppermost first. No path has a colon, comma or backslash. */
  readonly lower: readonly string[];
  /** Undefined: it is read-only, and has more than one lower directory. */
  readonly upper?: string;
  readonly work: string;
  /** Such as 'index=off'. */
  readonly options?: readonly string[];
}

/** A new overlay that is attached nowhere. */
export function newOverlay({ lower, upper, work, options = [] }: Overlay, attributes: readonly MountAttribute[]): number {
  const own = upper === undefined ? options : [`upperdir=${upper}`, `workdir=${work}`, ...options];
  const joined = lower.join(':');
  if (joined.length < mostParameterBytes) return newMount('overlay', [`lowerdir=${joined}`, ...own], attributes);
  try {
    return newMount('overlay', [...lower.map((each) => `lowerdir+=${each}`), ...own], attributes);
  } catch (error) {
    // Linux before 6.7 does not know it.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  }
  const target = `${work}-mount`;
  mkdirSync(target);
  try {
    return newMountAt(target, 'overlay', { parameters: [`lowerdir=${joined}`, ...own], attributes });
  } finally {
    rmdirSync(target);
  }
}
