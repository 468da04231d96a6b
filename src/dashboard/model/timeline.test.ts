import { expect, test } from 'vitest';
import type { Event, PersistentVolumeClaim } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import { changeEntries, eventEntry, oldestRevision, sorted } from './timeline.ts';

const claim = (phase: string, resourceVersion: string, time: string) =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'data',
      namespace: 'shop',
      uid: 'u',
      resourceVersion,
      managedFields: [
        { manager: 'kubectl', time: '2026-01-01T00:00:00Z' },
        { manager: 'binder', time },
      ],
    },
    spec: { resources: { requests: { storage: '1Gi' } }, storageClassName: 'disks', volumeName: 'pv1' },
    status: { phase },
  }) as unknown as Stored<PersistentVolumeClaim>;

test('a change has the words of moor simulate, and the time and component of its last write', () => {
  const [before, after] = [claim('Pending', '1', '2026-01-01T00:00:00Z'), claim('Bound', '2', '2026-01-01T00:00:05Z')];
  expect(changeEntries(undefined, before)).toMatchObject([{ about: 'pvc/data -n shop', what: 'created: 1Gi of class disks' }]);
  expect(changeEntries(before, after)).toMatchObject([{ at: '2026-01-01T00:00:05Z', who: 'binder', what: 'is Bound to pv/pv1', type: 'change' }]);
  expect(changeEntries(after, undefined)).toMatchObject([{ what: 'is gone', who: '' }]);
  expect(changeEntries(after, after)).toEqual([]);
});

test('an Event has its last time and its count; Events that repeat what objects show are left out', () => {
  const event = (reason: string, type: string) =>
    ({
      metadata: { uid: 'e', name: 'e', resourceVersion: '1' },
      involvedObject: { kind: 'Pod', name: 'db-0', namespace: 'shop' },
      reason,
      type,
      message: 'no',
      count: 3,
      lastTimestamp: '2026-01-01T00:00:07Z',
      source: { component: 'attachdetach-controller' },
    }) as unknown as Stored<Event & KubeObject>;
  expect(eventEntry(event('FailedAttachVolume', 'Warning'))).toMatchObject({
    at: '2026-01-01T00:00:07Z',
    type: 'warning',
    who: 'attachdetach',
    about: 'pod/db-0 -n shop',
    what: 'FailedAttachVolume: no',
    times: 3,
  });
  expect(eventEntry(event('Scheduled', 'Normal'))).toBeUndefined();
});

test('entries are in the order of their time, and those of one second as they came', () => {
  const entry = (key: string, at: string) => ({ key, at, type: 'change', who: '', about: '', what: '', times: 1 }) as const;
  const given = [entry('b', '2026-01-01T00:00:02Z'), entry('a', '2026-01-01T00:00:01Z'), entry('c', '2026-01-01T00:00:02Z')];
  expect(sorted(given).map(({ key }) => key)).toEqual(['a', 'b', 'c']);
});

test('the oldest revision is in the words of the refusal', () => {
  expect(oldestRevision('too old resource version: 1 (4711)')).toBe('4711');
  expect(oldestRevision('something else')).toBeUndefined();
});
