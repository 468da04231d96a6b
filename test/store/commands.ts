import fc from 'fast-check';
import {
  type Compare,
  type Entry,
  put,
  remove,
  type Store,
  StoreError,
  type Transaction,
  type TransactionResult,
  type Write,
} from '../../src/store/contract.ts';
import type { Request, Response } from '../../src/store/model.ts';

/** Random transactions over few keys, so that they meet. Revisions are guessed near the start, so that some compares hold. */
const key = fc.constantFrom('/a', '/a/', '/a/1', '/a/2', '/a/b/1', '/a/b/2', '/ab', '/b/1', '/\u00fc/1', '/\u4e16');
const value = fc.oneof(
  fc.string({ maxLength: 8, unit: 'grapheme-ascii' }),
  fc.integer({ min: 0, max: 2000 }).map((length) => 'long'.repeat(length / 4)),
);
const compare: fc.Arbitrary<Compare> = fc.record({ key, modRevision: fc.oneof(fc.constant(0), fc.integer({ min: 2, max: 25 })) });
const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(key, value).map(([at, text]) => put(at, new TextEncoder().encode(text))) },
  { weight: 1, arbitrary: key.map(remove) },
);
const writes = fc.uniqueArray(write, { maxLength: 4, selector: ({ key: of }) => of });

export const transaction: fc.Arbitrary<Transaction> = fc.oneof(
  { weight: 3, arbitrary: writes.map((some): Transaction => ({ compares: [], writes: some })) },
  { weight: 1, arbitrary: fc.record({ compares: fc.array(compare, { maxLength: 2 }), writes }) },
);

const revision = fc.integer({ min: 0, max: 30 });
const bound = fc.oneof(key, fc.constantFrom('', '/', '/a0', '/b/', '0', '\uffff'));

export const request: fc.Arbitrary<Request> = fc.oneof(
  { weight: 6, arbitrary: transaction.map((made): Request => ({ type: 'transact', transaction: made })) },
  { weight: 1, arbitrary: key.map((at): Request => ({ type: 'get', key: at })) },
  {
    weight: 3,
    arbitrary: fc
      .record({ from: bound, to: bound, revision: fc.option(revision), limit: fc.option(fc.integer({ min: 0, max: 5 })) })
      .map(
        ({ from, to, revision: at, limit }): Request => ({ type: 'range', from, to, ...(at !== null && { revision: at }), ...(limit !== null && { limit }) }),
      ),
  },
  { weight: 1, arbitrary: revision.map((at): Request => ({ type: 'compact', revision: at })) },
);

export const watch = fc.record({ prefix: fc.oneof(key, fc.constantFrom('/', '/a/', '/a/b/', '/b/')), after: revision });

/** The same histories on every run. More or other ones: MOOR_TEST_RUNS=20000 MOOR_TEST_SEED=7 npx vitest run test/store */
export const runs = (usual: number): { numRuns: number; seed: number } => ({
  numRuns: Number(process.env['MOOR_TEST_RUNS'] ?? usual),
  seed: Number(process.env['MOOR_TEST_SEED'] ?? 1),
});

/** The answer of a real store, in the model's notation. */
export async function ask(store: Store, request: Exclude<Request, { type: 'watched' }>): Promise<Response> {
  try {
    switch (request.type) {
      case 'transact':
        return showResult(await store.transact(request.transaction));
      case 'get':
        return show(await store.get(request.key));
      case 'range': {
        const { entries, revision: at, remaining } = await store.range(request);
        return `@${at} ${entries.map(show).join(' ')} +${remaining}`;
      }
      case 'compact':
        await store.compact(request.revision);
        return 'done';
    }
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
}

export function showResult(result: TransactionResult): Response {
  if (!result.ok) return `conflict ${result.conflicts.map(({ key: of, found }) => `${of}:${show(found)}`).join(' ')}`;
  return `ok @${result.revision} ${result.entries.map(show).join(' ')}`.trim();
}

/** Watches, and records the changes in the model's notation. */
export function follow(store: Store, { prefix, after }: { prefix: string; after: number }) {
  const lines: string[] = [];
  let ended: string | undefined;
  const watching = store.watch(
    { prefix, after },
    {
      changes(at, changes) {
        lines.push(`${at}: ${changes.map(({ key: of, entry, previous }) => `${of} ${show(entry)} was ${show(previous)}`).join(', ')}`);
      },
      end(cause) {
        ended = cause.code;
      },
    },
  );
  return { prefix, after, told: () => lines.join('\n'), ended: () => ended, stop: () => watching.stop() };
}

function show(entry: Entry | undefined): string {
  return entry === undefined ? 'none' : `[${entry.key}=${new TextDecoder().decode(entry.value)} ${entry.createRevision}..${entry.modRevision}]`;
}
