import { describe, expect, test } from 'vitest';
import { explainUnread } from '../explanation/explanation.ts';
import { render, renderOverview } from '../explanation/render.ts';
import { readStoreProblem } from './store-problem.ts';

type Answers = Readonly<Record<string, { readonly code: number; readonly text: string }>>;
const problemOf = (answers: Answers) => readStoreProblem({ read: (path) => Promise.resolve(answers[path]) });
const failed = (...checks: string[]) => ({
  code: 500,
  text: `[+]ping ok\n${checks.map((name) => `[-]${name} failed: reason withheld\n`).join('')}readyz check failed\n`,
});

describe('what a server says of its store', () => {
  test.each<[string, Answers, Awaited<ReturnType<typeof problemOf>>]>([
    ['a server that is ready', { '/readyz': { code: 200, text: 'ok' } }, undefined],
    ['a server that does not answer', {}, undefined],
    ['a server that begins', { '/readyz': failed('startup') }, undefined],
    ['a user who may not ask', { '/readyz': { code: 403, text: 'forbidden' } }, undefined],
    [
      'Mooring',
      { '/readyz': failed('startup', 'store'), '/readyz/store': { code: 500, text: 'internal server error: etcd is out of space\n' } },
      { check: 'store', reason: 'etcd is out of space' },
    ],
    [
      'Kubernetes',
      { '/readyz': failed('etcd', 'etcd-readiness'), '/readyz/etcd': { code: 500, text: 'internal server error: etcd failed: timeout\n' } },
      { check: 'etcd', reason: 'etcd failed: timeout' },
    ],
    ['a reason for administrators', { '/readyz': failed('etcd'), '/readyz/etcd': { code: 403, text: 'forbidden' } }, { check: 'etcd', reason: null }],
    ['a store that works again', { '/readyz': failed('store'), '/readyz/store': { code: 200, text: 'ok' } }, undefined],
  ])('%s', async (_, answers, problem) => {
    expect(await problemOf(answers)).toEqual(problem);
  });
});

describe('as text', () => {
  const asOf = '2026-11-17T12:00:00Z';
  test('an object that cannot be read', () => {
    const explained = explainUnread({ kind: 'pvc', namespace: 'shop', name: 'data' }, { check: 'store', reason: 'etcd does not answer' }, asOf);
    expect(render(explained, { colour: false, width: 100 })).toBe(
      `Everything waits for the store of the API server: etcd does not answer

pvc/data in namespace shop: Unknown

The object cannot be read as long as the store does not work.

Next: you see to the store of the API server.
`,
    );
  });

  test('everything that is stuck', () => {
    const overview = { asOf, stuck: [], waiting: [], unseen: [], store: { check: 'etcd', reason: null } };
    expect(renderOverview(overview, { colour: false, width: undefined })).toBe(
      `Everything waits for the store of the API server: the check "etcd" of /readyz fails, and the server tells the reason to its administrators only.

Of the objects that were read, none is stuck for another reason.
`,
    );
  });
});
