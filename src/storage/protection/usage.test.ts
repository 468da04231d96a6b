import { expect, test } from 'vitest';
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts';
import { pv, pvc, reservedFor, uidOf } from '../../../test/storage/objects.ts';
import { readClaim } from '../volumes/claim.ts';
import { readVolume } from '../volumes/volume.ts';
import { isAwaitedBy, usesClaim } from './usage.ts';

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

const lost = { 'pv.kubernetes.io/bind-completed': 'yes' };
const madeFor = (more: Parameters<typeof pv>[2] = {}) =>
  pv('vol', '1Gi', {
    metadata: { finalizers: ['external-provisioner.volume.kubernetes.io/finalizer'] },
    spec: { claimRef: { ...reservedFor('data'), uid: uidOf('pvc', 'data') } },
    status: { phase: 'Pending' },
    ...more,
  });

test.each([
  ['is awaited by that claim', madeFor(), pvc('data', '1Gi'), true],
  ['is awaited by that claim also if it names it already', madeFor(), pvc('data', '1Gi', { spec: { volumeName: 'vol' } }), true],
  ['is not awaited if the claim has another one', madeFor(), pvc('data', '1Gi', { spec: { volumeName: 'other' } }), false],
  ['is not awaited if the claim is gone', madeFor(), undefined, false],
  ['is not awaited by another claim of that name', madeFor(), pvc('data', '1Gi', { metadata: { uid: 'another' } }), false],
  ['is not awaited once it is released', madeFor({ status: { phase: 'Released' } }), pvc('data', '1Gi'), false],
  ['is not awaited by a claim that asks for more', madeFor(), pvc('data', '5Gi'), false],
  ['is not awaited by a claim that has lost its volume', madeFor(), pvc('data', '1Gi', { metadata: { annotations: lost } }), false],
  ['is not awaited if no provisioner keeps it', madeFor({ metadata: {} }), pvc('data', '1Gi'), false],
])('a volume that was made for a claim %s', (_, volume, asking, isAwaited) => {
  expect(isAwaitedBy(readVolume(volume), asking === undefined ? undefined : readClaim(asking))).toBe(isAwaited);
});
