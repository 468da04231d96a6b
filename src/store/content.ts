import type { Entry } from './contract.ts';

/** All that a store holds at one revision: what is copied to another one. */
export interface StoreContent {
  readonly clusterId: string;
  readonly revision: number;
  /** Sorted by key. */
  readonly entries: readonly Pick<Entry, 'key' | 'value' | 'createRevision' | 'modRevision'>[];
}

type Copied = Pick<Entry, 'key' | 'value'>;

/** Whether two stores hold the same objects. Revisions differ from store to store. Both are sorted by key. */
export const isSameContent = (some: readonly Copied[], others: readonly Copied[]): boolean =>
  some.length === others.length && some.every(({ key, value }, i) => others[i]?.key === key && Buffer.compare(others[i].value, value) === 0);
