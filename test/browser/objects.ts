/** Objects of which each view shows something. */
const metadata = (name: string, namespace = 'shop') => ({ name, namespace });
const claimSpec = (storage: string, more: object = {}) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...more });

export const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

export const claim = (name: string, more: object = {}, of = 'shop') => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: metadata(name, of),
  spec: claimSpec('5Gi', more),
});

export const volume = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { capacity: { storage: '7Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' }, persistentVolumeReclaimPolicy: 'Retain', ...more },
});

export const pod = (name: string, claimName: string, resources: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata(name),
  spec: {
    containers: [{ name: 'main', image: 'main', resources }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
  },
});

export const statefulSet = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: metadata(name),
  spec: {
    serviceName: name,
    replicas,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'main' }] } },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec('1Gi') }],
  },
});

export const list = (...items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
