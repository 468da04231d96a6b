import { type FieldError, invalid } from '../field-error.ts';

/** A path must not leave its directory by '..'; once said is enough. */
export function noBacksteps(path: string, field: string): FieldError[] {
  return path.split('/').includes('..') ? [invalid(field, path, "must not contain '..'")] : [];
}

/** A path below a directory: relative, and staying there. */
export function localDescendingPath(path: string, field: string): FieldError[] {
  return [...(path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : []), ...noBacksteps(path, field)];
}

/** The same, for directories in which names that begin with '..' are the kubelet's. */
export function localNonReservedPath(path: string, field: string): FieldError[] {
  const errors = localDescendingPath(path, field);
  return path.startsWith('..') && !path.startsWith('../') ? [...errors, invalid(field, path, "must not start with '..'")] : errors;
}

/** Whether a path, without its dots and double slashes, is the root. */
export function isRoot(path: string): boolean {
  if (!path.startsWith('/')) return false;
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth = Math.max(0, depth - 1);
    else if (part !== '' && part !== '.') depth++;
  }
  return depth === 0;
}
