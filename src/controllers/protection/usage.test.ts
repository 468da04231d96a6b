import { expect, test } from 'vitest';
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { usesClaim } from './usage.ts';

const claim = (name: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'default', name, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid', controller: true }] },
  spec: { resources: {} },
  status: {},
});

const pod = (metadata: Pod['metadata'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'web', uid: 'uid', ...metadata },
  spec: {
    nodeName: 'n',
    containers: [],
    volumes: [
      { name: 'own', ephemeral: {} },
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    ],
  },
  status: { phase: 'Succeeded' },
});

const deletionTimestamp = '2026-01-01T00:00:00Z';

test.each([
  ['lives', {}, true, true],
  ['is being stopped', { deletionTimestamp, deletionGracePeriodSeconds: 30 }, true, true],
  // Kubernetes v1.36.4, podIsShutDown: else foreground deletion of the pod's owner would never end.
  ['is held by finalizers alone', { deletionTimestamp, deletionGracePeriodSeconds: 0, finalizers: ['foregroundDeletion'] }, false, true],
])('a pod that %s', (_, metadata, usesOwn, usesOthers) => {
  expect([usesClaim(pod(metadata), claim('web-own')), usesClaim(pod(metadata), claim('data'))]).toEqual([usesOwn, usesOthers]);
});
