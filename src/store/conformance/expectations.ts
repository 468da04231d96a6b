import { expect } from 'vitest';
import { type Change, type Entry, prefixEnd, put, type Store, StoreError, type StoreErrorCode } from '../contract.ts';

export const everything = { from: '/', to: prefixEnd('/') };

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const text = (entry: Entry | undefined): string | undefined => (entry === undefined ? undefined : new TextDecoder().decode(entry.value));

export const show = ({ entries, revision }: { entries: readonly Entry[]; revision: number }): string =>
  [`@${revision}`, ...entries.map((entry) => `${entry.key}=${text(entry)}`)].join(' ');

export async function write(store: Store, values: Readonly<Record<string, string>>) {
  const result = await store.transact({ compares: [], writes: Object.entries(values).map(([key, value]) => put(key, bytes(value))) });
  if (!result.ok) throw new Error('a transaction without compares cannot conflict');
  return result;
}

export async function expectCode(promise: Promise<unknown>, code: StoreErrorCode): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ code });
}

/** Watches and notes one line per revision, as in `3: put /a=y was x, delete /b was z`. */
export function record(store: Store, prefix: string, after: number) {
  const lines: string[] = [];
  let newest = after;
  const waiting = new Set<() => void>();
  let end: (cause: StoreError) => void = () => {};
  const ended = new Promise<StoreError>((resolve) => {
    end = resolve;
  });
  const watch = store.watch(
    { prefix, after },
    {
      changes(revision, changes) {
        expect(revision).toBeGreaterThan(newest);
        newest = revision;
        lines.push(`${revision}: ${changes.map(line).join(', ')}`);
        for (const check of waiting) check();
      },
      end,
    },
  );
  const until = (revision: number): Promise<readonly string[]> =>
    new Promise((done) => {
      const check = (): void => {
        if (newest < revision) return;
        waiting.delete(check);
        done(lines);
      };
      waiting.add(check);
      check();
    });
  return { lines, watch, ended, until, stop: () => watch.stop() };
}

function line(change: Change): string {
  const now = change.type === 'put' ? `=${text(change.entry)}` : '';
  const before = change.previous === undefined ? '' : ` was ${text(change.previous)}`;
  return `${change.type} ${change.key}${now}${before}`;
}
