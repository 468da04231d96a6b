/** A volume and a claim as people write them, and as a binder wants them to be. */
import type { Sent } from './api-under-test.ts';

export const volumes = '/api/v1/persistentvolumes';
export const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
type Parsed = Sent['body'];

export const volume = (name: string) => ({
  metadata: { name },
  spec: { capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: `/tmp/${name}` }, storageClassName: 'static' },
});

export const claim = (name: string) => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'static' },
});

/** What a binder makes of a volume and a claim that it read. */
export function bound(ofVolume: Parsed, ofClaim: Parsed): Parsed {
  const byController = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
  const { namespace, name, uid, resourceVersion } = ofClaim.metadata;
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion };
  return {
    kind: 'VolumeBinding',
    apiVersion: 'mooring.dev/v1',
    volume: { ...ofVolume, metadata: { ...ofVolume.metadata, annotations: byController }, spec: { ...ofVolume.spec, claimRef }, status: { phase: 'Bound' } },
    claim: {
      ...ofClaim,
      metadata: { ...ofClaim.metadata, annotations: { ...byController, 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: { ...ofClaim.spec, volumeName: ofVolume.metadata.name },
      status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } },
    },
  };
}
