import { fstatSync } from 'node:fs';
import path from 'node:path';
import { errorTexts } from '../error-texts.ts';
import { close, isInProc, linkText, makeDirectoryIn, makeFile, openInRoot, openName } from '../mount-calls.ts';

/** Linux' limit. */
const mostLinks = 40;

/**
 * Opens a path of a container's root. Every name is opened by the descriptor of its directory, and no link is followed by the kernel: its text is read and
 * resolved here, so that neither '..' nor an absolute link nor a link of /proc leads out of the root, whatever a container changes meanwhile. What is
 * missing is made: directories, and the last name as `last`. The caller closes the descriptor, which only stands for the path (O_PATH).
 */
export function openInside(root: number, target: string, last: 'directory' | 'file'): number {
  if (path.posix.normalize(`/${target}`) === '/') throw isRoot();
  const found = openInRoot(root, target) ?? walk(root, target, last);
  if (!isSame(found, root)) return found;
  close(found);
  throw isRoot();
}

/** By a link to '/' or '..'. */
function isSame(one: number, other: number): boolean {
  const [a, b] = [fstatSync(one), fstatSync(other)];
  return a.ino === b.ino && a.dev === b.dev;
}

const isRoot = (): Error => new Error("it is the container's root");

function walk(root: number, target: string, last: 'directory' | 'file'): number {
  const parts = target.split('/');
  const way: number[] = [];
  let links = 0;
  try {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      if (part === '' || part === '.') continue;
      if (part === '..') {
        const left = way.pop();
        if (left !== undefined) close(left);
        continue;
      }
      const isLast = parts.every((each) => each === '' || each === '.');
      const next = openOrMake(way.at(-1) ?? root, part, isLast ? last : 'directory');
      if (!fstatSync(next).isSymbolicLink()) {
        way.push(next);
        continue;
      }
      const link = readAndClose(next);
      if (++links > mostLinks) throw Object.assign(new Error(errorTexts['ELOOP']), { code: 'ELOOP' });
      if (link.startsWith('/')) for (const each of way.splice(0)) close(each);
      parts.unshift(...link.split('/'));
    }
    const found = way.pop();
    if (found === undefined) throw isRoot();
    return found;
  } finally {
    for (const each of way) close(each);
  }
}

function readAndClose(link: number): string {
  try {
    return linkText(link);
  } catch (error) {
    // Such as /proc/self, for a thread that is not in the container's process namespace.
    if (isInProc(link)) throw new Error('it leads over a link of /proc', { cause: error });
    throw error;
  } finally {
    close(link);
  }
}

/** A name that appears meanwhile is opened as it is. */
function openOrMake(directory: number, name: string, kind: 'directory' | 'file'): number {
  const found = openName(directory, name);
  if (found !== undefined) return found;
  try {
    if (kind === 'directory') makeDirectoryIn(directory, name, 0o755);
    else makeFile(directory, name, 0o644);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const made = openName(directory, name);
  if (made === undefined) throw Object.assign(new Error(`open ${name}: ${errorTexts['ENOENT']}`), { code: 'ENOENT' });
  return made;
}
