import type { Column } from './kind.ts';
import type { KubeObject } from './object.ts';

/** What several kinds print in the same way. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long ago a timestamp was: '5m', '3d4h'. */
export function age(timestamp: string | null | undefined, now: number): string {
  if (timestamp === undefined || timestamp === null || timestamp === '') return '<unknown>';
  return humanDuration(now - Date.parse(timestamp));
}

/** A duration in milliseconds, in two or three figures. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / SECOND);
  // Clocks of two machines may differ a little: almost now is now.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(milliseconds / MINUTE);
  if (minutes < 10) return `${minutes}m${rest(seconds % 60, 's')}`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(milliseconds / HOUR);
  if (hours < 8) return `${hours}h${rest(minutes % 60, 'm')}`;
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 192) return `${days}d${rest(hours % 24, 'h')}`;
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  if (hours < 24 * 365 * 8) return `${years}y${rest(days % 365, 'd')}`;
  return `${years}y`;
}

const rest = (value: number, unit: string): string => (value === 0 ? '' : `${value}${unit}`);

type Cell<T extends KubeObject> = Column<T>['cell'];

/** A column of text that is always shown; `wide`: only with -o wide. */
export function textColumn<T extends KubeObject>(name: string, cell: Cell<T>): Column<T> {
  return { name, type: 'string', format: '', priority: 0, cell };
}

export const wideColumn = <T extends KubeObject>(name: string, cell: Cell<T>): Column<T> => ({ ...textColumn(name, cell), priority: 1 });
export const integerColumn = <T extends KubeObject>(name: string, cell: Cell<T>): Column<T> => ({ ...textColumn(name, cell), type: 'integer' });
export const booleanColumn = <T extends KubeObject>(name: string, cell: Cell<T>): Column<T> => ({ ...textColumn(name, cell), type: 'boolean' });

export const nameColumn: Column = { name: 'Name', type: 'string', format: 'name', priority: 0, cell: (object) => object.metadata.name ?? '' };
export const ageColumn: Column = textColumn('Age', (object, now) => age(object.metadata.creationTimestamp, now));

/** What kinds without columns of their own are printed with. */
export const plainColumns: readonly Column[] = [
  nameColumn,
  { name: 'Created At', type: 'date', format: '', priority: 0, cell: (object) => object.metadata.creationTimestamp ?? null },
];

const shortModes: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** 'RWO,ROX': always in this order, whatever the object's. */
export function accessModes(modes: readonly string[] | undefined): string {
  return shortModes
    .filter(([mode]) => modes?.includes(mode) === true)
    .map(([, short]) => short)
    .join(',');
}

/** 'a=b,c=d' */
export function labelsCell(labels: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
}
