import type { MountEntry } from '../world/mounts.ts';

/**
 * Reads /proc/self/mountinfo:
 *
 *     36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *     id parent device root target options [optional fields …] - file-system source super-options
 *
 * Malformed lines are left out.
 */
export function parseMountInfo(text: string): readonly MountEntry[] {
  return text.split('\n').flatMap((line) => entryOf(line) ?? []);
}

/** The same for repeated reads: unchanged lines are parsed once. */
export function mountInfoParser(): (text: string) => readonly MountEntry[] {
  let known = new Map<string, MountEntry>();
  return (text) => {
    const entries = new Map<string, MountEntry>();
    for (const line of text.split('\n')) {
      const entry = known.get(line) ?? entryOf(line);
      if (entry !== undefined) entries.set(line, entry);
    }
    known = entries;
    return [...entries.values()];
  };
}

/** Whether a line says that mounts below it are passed on. */
export const isSharedMount = (line: string): boolean => line.split(' - ')[0]?.includes(' shared:') === true;

function entryOf(line: string): MountEntry | undefined {
  const fields = line.split(' ');
  // The optional fields end at a field that is a hyphen; the six fields before them never are.
  const separator = fields.indexOf('-', 6);
  if (separator < 0) return undefined;
  const [id = '', parent = '', device = '', root = '', target = '', options = ''] = fields;
  const [fileSystem = '', source = '', superOptions = ''] = fields.slice(separator + 1);
  if (!/^\d+$/.test(id) || !target.startsWith('/')) return undefined;
  return {
    id: Number(id),
    parent: Number(parent),
    device,
    root: unescape(root),
    target: unescape(target),
    options: options.split(','),
    fileSystem: unescape(fileSystem),
    source: unescape(source),
    superOptions: unescape(superOptions).split(','),
  };
}

/** The kernel writes space, tab, newline and backslash (and #) as three octal digits, byte by byte. */
function unescape(field: string): string {
  return field.includes('\\') ? field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))) : field;
}
