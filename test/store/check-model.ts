import fc from 'fast-check';
import { expect } from 'vitest';
import type { Store } from '../../src/store/contract.ts';
import { emptyModel, type Model, type Request, step } from '../../src/store/model.ts';
import { ask, follow, request, watch } from './commands.ts';

type Command = Request | { readonly type: 'watch'; readonly prefix: string; readonly after: number } | { readonly type: 'reopen' };

/** Any sequence of calls. */
export const commands: fc.Arbitrary<readonly Command[]> = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<Command>[]>(
    { weight: 12, arbitrary: request },
    { weight: 2, arbitrary: watch.map((options) => ({ type: 'watch', ...options })) },
    { weight: 1, arbitrary: fc.constant({ type: 'reopen' }) },
  ),
  { maxLength: 60, size: 'max' },
);

export interface BegunStore {
  readonly store: Store;
  readonly reopen: (store: Store) => Promise<Store>;
  /** A store that was opened has no past: it is compacted up to its revision. */
  readonly forgets?: boolean;
  readonly eventually: (read: () => unknown, expected: object) => Promise<void>;
}

/** Each call gives the answer of the model, and every watcher is told what the model says. */
export async function checkCommands(begun: BegunStore, some: readonly Command[]): Promise<void> {
  const opened = (model: Model): Model => (begun.forgets === true ? { ...model, compacted: model.revision } : model);
  let { store } = begun;
  let model = opened(emptyModel);
  let followers: ReturnType<typeof follow>[] = [];
  for (const next of some) {
    if (next.type === 'watch') {
      const follower = follow(store, next);
      if (next.after < model.compacted) expect(follower.ended()).toBe('compacted');
      else followers.push(follower);
    } else if (next.type === 'reopen') {
      store = await begun.reopen(store);
      model = opened(model);
      // The watchers resume from their last revision.
      followers = followers.filter((follower) => follower.ended() === undefined);
    } else if (next.type !== 'watched') {
      const expected = step(model, next);
      expect(await ask(store, next)).toBe(expected.response);
      model = expected.model;
    }
    expect([store.revision(), store.compactedRevision()]).toEqual([model.revision, model.compacted]);
    for (const { prefix, after, told } of followers) expect(told()).toBe(step(model, { type: 'watched', prefix, after }).response);
  }
  await checkStats(store, begun);
  await store.close();
}

/** Once the past is forgotten, nothing of it may still be counted. */
async function checkStats(store: Store, { eventually }: BegunStore): Promise<void> {
  expect(store.stats().historyRevisions).toBe(store.revision() - store.compactedRevision());
  await store.compact(store.revision());
  const { entries } = await store.range({ from: '', to: '\uffff' });
  const liveBytes = entries.reduce((sum, { value }) => sum + value.byteLength, 0);
  await eventually(() => store.stats(), { keys: entries.length, liveBytes, historyRevisions: 0, historyBytes: 0 });
}
