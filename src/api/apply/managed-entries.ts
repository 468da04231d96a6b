/** metadata.managedFields, decoded. */
import type { ManagedFieldsEntry } from '../generated/types.ts';
import { type FieldSet, isEmpty } from './field-set.ts';
import { readFields, writeFields } from './fields-v1.ts';

export interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** The apiVersion of `set`. */
  readonly version: string;
  readonly subresource: string;
  /** As it is printed; undefined: new. */
  readonly time: string | undefined;
  readonly set: FieldSet;
}

/** By `ownerId`. */
export type Owners = ReadonlyMap<string, Owner>;

export const noOwners: Owners = new Map();

/** Identifies an owner. An applier is one owner in all versions; an updater is one in each. */
export function ownerId({ manager, operation, version, subresource }: Omit<Owner, 'set' | 'time'>): string {
  return JSON.stringify({
    ...(manager === '' ? {} : { manager }),
    operation,
    ...(operation === 'Apply' ? {} : { apiVersion: version }),
    ...(subresource === '' ? {} : { subresource }),
  });
}

/** @throws SyntaxError for an invalid entry */
export function readOwners(entries: readonly ManagedFieldsEntry[]): Owners {
  const owners = new Map<string, Owner>();
  for (const [i, entry] of entries.entries()) {
    const { manager = '', operation, apiVersion: version = '', subresource = '', time, fieldsType = '' } = entry;
    if (operation !== 'Apply' && operation !== 'Update') throw new SyntaxError('operation must be `Apply` or `Update`');
    if (version === '') throw new SyntaxError('apiVersion must not be empty');
    if (fieldsType === '') throw new SyntaxError(`missing fieldsType in managed fields entry ${i}`);
    if (fieldsType !== 'FieldsV1') throw new SyntaxError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${i}`);
    const owner: Owner = { manager, operation, version, subresource, time: time ?? undefined, set: readFields(entry.fieldsV1) };
    owners.set(ownerId(owner), owner);
  }
  return owners;
}

/** undefined: no owners. */
export function writeOwners(owners: Owners): ManagedFieldsEntry[] | undefined {
  if (owners.size === 0) return undefined;
  return [...owners.values()].sort(inPrintedOrder).map(({ manager, operation, version, subresource, time, set }) => ({
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion: version,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: writeFields(set),
    ...(subresource === '' ? {} : { subresource }),
  }));
}

function inPrintedOrder(a: Owner, b: Owner): number {
  return (
    compareText(a.operation, b.operation) ||
    secondsOf(a) - secondsOf(b) ||
    compareText(a.manager, b.manager) ||
    compareText(a.version, b.version) ||
    compareText(a.subresource, b.subresource)
  );
}

const secondsOf = ({ time }: Owner): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000));

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const withoutEmpty = (owners: Owners): Map<string, Owner> => new Map([...owners].filter(([, { set }]) => !isEmpty(set)));

/** Oldest first. */
export const oldestFirst = (owners: Owners): [string, Owner][] =>
  [...owners].sort(([idA, a], [idB, b]) => secondsOf(a) - secondsOf(b) || compareText(idA, idB));
