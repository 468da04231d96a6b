import { describe, expect, test } from 'vitest';
import { configMapKind } from '../api/kinds/core/config-map.ts';
import { createClient } from './client.ts';
import { LiveLists, listAll } from './live-lists.ts';
import type { Answer, Transport, TransportRequest } from './transport.ts';

const item = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

/** A server whose lists are answered by hand, one after the other. */
class ByHand implements Transport {
  readonly requests: TransportRequest[] = [];
  readonly #answers: ((answer: Answer) => void)[] = [];

  send(request: TransportRequest): Promise<Answer> {
    this.requests.push(request);
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  watch(): never {
    throw new Error('no watch is expected');
  }

  answer(names: readonly string[], next?: string): void {
    const metadata = { resourceVersion: '1', ...(next === undefined ? {} : { continue: next }) };
    this.#answers.shift()?.({ type: 'list', items: names.map(item), metadata });
  }

  fail(): void {
    this.#answers.shift()?.({ type: 'unreachable', error: new Error('gone') });
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a list is put together from all of its pages', async () => {
  const server = new ByHand();
  const all = listAll(createClient({ transport: server }), configMapKind, { namespace: 'default' });
  await settled();
  server.answer(['a', 'b'], 'more');
  await settled();
  server.answer(['c'], '');
  expect(await all).toMatchObject({ ok: true, value: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }, { metadata: { name: 'c' } }] });
  expect(server.requests.map(({ query }) => query.get('continue'))).toEqual([null, 'more']);
});

test('a page that fails is the end of it', async () => {
  const server = new ByHand();
  const all = listAll(createClient({ transport: server }), configMapKind);
  await settled();
  server.answer(['a'], 'more');
  await settled();
  server.fail();
  expect(await all).toMatchObject({ ok: false, reason: 'unreachable' });
});

describe('shared lists', () => {
  test('callers during a list share the next one', async () => {
    const server = new ByHand();
    const lists = new LiveLists(createClient({ transport: server }), configMapKind);
    const first = lists.in('default');
    await settled();
    const [second, third] = [lists.in('default'), lists.in('default')];
    await settled();
    expect(server.requests).toHaveLength(1);
    server.answer(['old']);
    await first;
    await settled();
    expect(server.requests).toHaveLength(2);
    server.answer(['new']);
    for (const each of [second, third]) expect(await each).toMatchObject({ value: [{ metadata: { name: 'new' } }] });
  });

  test('a list that failed does not affect the next', async () => {
    const server = new ByHand();
    const lists = new LiveLists(createClient({ transport: server }), configMapKind);
    const first = lists.in('');
    await settled();
    server.fail();
    expect(await first).toMatchObject({ ok: false });
    const second = lists.in('');
    await settled();
    server.answer(['a']);
    expect(await second).toMatchObject({ ok: true });
  });
});
