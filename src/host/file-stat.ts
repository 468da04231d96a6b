import type { Stats } from 'node:fs';
import type { FileStat } from '../world/mounts.ts';

export function factsOf(stats: Stats): FileStat {
  const { mode, uid, gid, size } = stats;
  return { type: typeOf(stats), mode: mode & 0o7777, uid, gid, size };
}

function typeOf(stats: Stats): FileStat['type'] {
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isSocket()) return 'socket';
  if (stats.isFIFO()) return 'pipe';
  if (stats.isCharacterDevice()) return 'character-device';
  return stats.isBlockDevice() ? 'block-device' : 'file';
}
