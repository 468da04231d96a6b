import koffi from 'koffi';
import { systemError } from '../system-error.ts';

const lsetxattr = koffi.load(null).func('int lsetxattr(const void *path, const char *name, const void *value, size_t size, int flags)') as (
  path: Buffer,
  name: string,
  value: Buffer,
  size: number,
  flags: number,
) => number;

/** Of a link itself, not of what it leads to. */
export function setXattr(path: Buffer, name: string, value: Buffer): void {
  const terminated = Buffer.concat([path, Buffer.of(0)]);
  if (lsetxattr(terminated, name, value, value.length, 0) === 0) return;
  throw systemError('setxattr', koffi.errno(), [path.toString(), name]);
}
