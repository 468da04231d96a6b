import { expect, test } from 'vitest';
import type { ControllerRevision } from '../../api/generated/types.ts';
import type { Stored } from '../../api/stored.ts';
import { inRevisionOrder } from './revisions.ts';

const revisionOf = (name: string, revision: number, creationTimestamp: string): Stored<ControllerRevision> => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name, namespace: 'default', uid: name, resourceVersion: '1', generation: 1, creationTimestamp },
  data: {},
  revision,
});

test('the number of a revision decides, not its age: a rollback gives an old one the highest number', () => {
  const [first, second] = [revisionOf('first', 3, '2026-01-01T00:00:00Z'), revisionOf('second', 2, '2026-01-02T00:00:00Z')];
  expect(inRevisionOrder([first, second]).map(({ metadata }) => metadata.name)).toEqual(['second', 'first']);
  expect(inRevisionOrder([second, first]).map(({ metadata }) => metadata.name)).toEqual(['second', 'first']);
});

test('of two with the same number, the older one comes first', () => {
  const [older, newer] = [revisionOf('b', 1, '2026-01-01T00:00:00Z'), revisionOf('a', 1, '2026-01-02T00:00:00Z')];
  expect(inRevisionOrder([newer, older])).toEqual([older, newer]);
});
