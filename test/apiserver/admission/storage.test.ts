import { describe, expect, test } from 'vitest';
import { type ApiUnderTest, onApi } from '../api-under-test.ts';

const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const classes = '/apis/storage.k8s.io/v1/storageclasses';
const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const makeClass = (api: ApiUnderTest, name: string, more: object = {}, isDefault = false) =>
  api.create(classes, {
    metadata: { name, annotations: isDefault ? { 'storageclass.kubernetes.io/is-default-class': 'true' } : {} },
    provisioner: 'example.com/p',
    ...more,
  });

describe('the default class', () => {
  test(
    'goes to claims that name none; of several the newest wins',
    onApi(async (api) => {
      expect((await api.create(claims, claim('before'))).body.spec.storageClassName).toBeUndefined();
      await makeClass(api, 'older', {}, true);
      await api.world.sleep(2_000);
      await makeClass(api, 'newer', {}, true);
      await makeClass(api, 'another', {}, true);
      await makeClass(api, 'plain');
      expect((await api.create(claims, claim('none'))).body.spec.storageClassName).toBe('another');
      expect((await api.create(claims, claim('empty', { storageClassName: '' }))).body.spec.storageClassName).toBe('');
      expect((await api.create(claims, claim('own', { storageClassName: 'plain' }))).body.spec.storageClassName).toBe('plain');
    }),
  );
});

test(
  'new PVCs, PVs and VolumeAttributesClasses get their protection finalizers',
  onApi(async (api) => {
    expect((await api.create(claims, { ...claim('a'), metadata: { name: 'a', finalizers: ['example.com/x'] } })).body.metadata.finalizers).toEqual([
      'example.com/x',
      'kubernetes.io/pvc-protection',
    ]);
    const pv = { metadata: { name: 'v' }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/v' } } };
    expect((await api.create('/api/v1/persistentvolumes', pv)).body.metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
    const vac = await api.create('/apis/storage.k8s.io/v1/volumeattributesclasses', {
      metadata: { name: 'g' },
      driverName: 'example.com',
      parameters: { a: 'b' },
    });
    expect(vac.body.metadata.finalizers).toEqual(['kubernetes.io/vac-protection']);
    const kept = await api.send('DELETE', `${claims}/a`);
    expect(kept.body).toMatchObject({ kind: 'PersistentVolumeClaim', metadata: { deletionTimestamp: expect.any(String) } });
  }),
);

test(
  'a PVC is expanded only once it is bound, and only if its class allows it',
  onApi(async (api) => {
    await makeClass(api, 'growing', { allowVolumeExpansion: true });
    await makeClass(api, 'fixed');
    const grow = (name: string) =>
      api.send('PATCH', `${claims}/${name}`, { body: { spec: { resources: { requests: { storage: '2Gi' } } } }, contentType: 'application/merge-patch+json' });
    const bind = (name: string) =>
      api.send('PATCH', `${claims}/${name}/status`, {
        body: { status: { phase: 'Bound', capacity: { storage: '1Gi' } } },
        contentType: 'application/merge-patch+json',
      });
    for (const name of ['growing', 'fixed']) {
      await api.create(claims, claim(name, { storageClassName: name, volumeName: 'v' }));
      expect((await grow(name)).code).toBeGreaterThanOrEqual(400);
      expect((await bind(name)).body.status.phase).toBe('Bound');
    }
    expect((await grow('fixed')).body).toMatchObject({
      code: 403,
      message:
        'persistentvolumeclaims "fixed" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    });
    expect((await grow('growing')).body.spec.resources.requests.storage).toBe('2Gi');
  }),
);
