import { expect, test } from 'vitest';
import { type Raw, created, decoded } from '../try-kind.ts';
import { defaultPullPolicy, imageTag } from './image-name.ts';
import { podKind } from './pod.ts';

const pod = (spec: object, more: object = {}): Raw => ({
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
  ...more,
});
const specOf = (spec: object) => created(podKind, pod(spec)).spec;
const containerOf = (container: object) => specOf({ containers: [{ name: 'main', image: 'nginx', ...container }] }).containers?.[0];

test('the least pod, with all that it gets', () => {
  expect(created(podKind, pod({}))).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'a-uid', creationTimestamp: '2026-03-01T11:00:00Z' },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'nginx',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'Always',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  });
});

test('sources of volumes get what they left out', () => {
  const volumes = [
    { name: 'a' },
    { name: 'b', secret: { secretName: 's' } },
    { name: 'c', configMap: { name: 'c' } },
    { name: 'd', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } },
    {
      name: 'e',
      projected: { sources: [{ serviceAccountToken: { path: 't' } }, { downwardAPI: { items: [{ path: 'q', fieldRef: { fieldPath: 'metadata.uid' } }] } }] },
    },
    { name: 'f', hostPath: { path: '/f' } },
    { name: 'g', iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:s', lun: 0 } },
    { name: 'h', rbd: { monitors: ['m'], image: 'i' } },
    { name: 'i', azureDisk: { diskName: 'd', diskURI: 'https://x' } },
    { name: 'j', scaleIO: { gateway: 'g', system: 's', volumeName: 'v', secretRef: { name: 's' } } },
    { name: 'k', ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '0.0001' } } } } } },
    { name: 'l', image: { reference: 'example.com/data:v1' } },
  ];
  expect(specOf({ volumes }).volumes).toEqual([
    { name: 'a', emptyDir: {} },
    { name: 'b', secret: { secretName: 's', defaultMode: 420 } },
    { name: 'c', configMap: { name: 'c', defaultMode: 420 } },
    { name: 'd', downwardAPI: { items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }], defaultMode: 420 } },
    {
      name: 'e',
      projected: {
        sources: [
          { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
          { downwardAPI: { items: [{ path: 'q', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.uid' } }] } },
        ],
        defaultMode: 420,
      },
    },
    { name: 'f', hostPath: { path: '/f', type: '' } },
    { name: 'g', iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:s', lun: 0, iscsiInterface: 'default' } },
    { name: 'h', rbd: { monitors: ['m'], image: 'i', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
    { name: 'i', azureDisk: { diskName: 'd', diskURI: 'https://x', cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' } },
    { name: 'j', scaleIO: { gateway: 'g', system: 's', volumeName: 'v', secretRef: { name: 's' }, storageMode: 'ThinProvisioned', fsType: 'xfs' } },
    {
      name: 'k',
      ephemeral: {
        volumeClaimTemplate: {
          metadata: {},
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1m' } }, volumeMode: 'Filesystem' },
        },
      },
    },
    { name: 'l', image: { reference: 'example.com/data:v1', pullPolicy: 'IfNotPresent' } },
  ]);
});

test('containers get what they left out', () => {
  const probe = { httpGet: { port: 80 } };
  const given = {
    ports: [{ containerPort: 80 }],
    env: [
      { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'B', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } },
    ],
    livenessProbe: probe,
    readinessProbe: { grpc: { port: 80 }, periodSeconds: 2 },
    lifecycle: { preStop: { httpGet: { port: 80, path: '/bye' } } },
  };
  const container = containerOf(given);
  expect(container?.ports).toEqual([{ containerPort: 80, protocol: 'TCP' }]);
  expect(container?.env).toEqual([
    { name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    { name: 'B', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k', optional: false } } },
  ]);
  const counts = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  expect(container?.livenessProbe).toEqual({ httpGet: { port: 80, path: '/', scheme: 'HTTP' }, ...counts });
  expect(container?.readinessProbe).toEqual({ grpc: { port: 80, service: '' }, ...counts, periodSeconds: 2 });
  expect(container?.lifecycle?.preStop).toEqual({ httpGet: { port: 80, path: '/bye', scheme: 'HTTP' } });
});

test('what is limited is requested as much', () => {
  const resources = { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } };
  expect(containerOf({ resources })?.resources.requests).toEqual({ cpu: '1', memory: '1Gi' });
});

test('resources of the pod as a whole are completed from those of its containers', () => {
  const containers = [
    { name: 'a', image: 'x', resources: { requests: { cpu: '100m' } } },
    { name: 'b', image: 'x', resources: { requests: { cpu: '200m' } } },
  ];
  const spec = specOf({ containers, resources: { limits: { cpu: '1', memory: '1Gi' } } });
  expect(spec.resources).toEqual({ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '300m', memory: '1Gi' } });
});

test('on the node’s network ports are the node’s', () => {
  const containers = [{ name: 'main', image: 'nginx', ports: [{ containerPort: 80 }] }];
  expect(specOf({ hostNetwork: true, containers }).containers?.[0]?.ports).toEqual([{ containerPort: 80, hostPort: 80, protocol: 'TCP' }]);
});

test('a service account has two names', () => {
  expect(specOf({ serviceAccount: 'old' })).toMatchObject({ serviceAccountName: 'old', serviceAccount: 'old' });
  expect(specOf({ serviceAccount: 'old', serviceAccountName: 'new' })).toMatchObject({ serviceAccountName: 'new', serviceAccount: 'new' });
});

test('a negative grace period means one second, in pods', () => {
  expect(specOf({ terminationGracePeriodSeconds: -5 }).terminationGracePeriodSeconds).toBe(1);
});

test('the first address of a pod stands alone as well', () => {
  const statusOf = (status: object) => decoded(podKind, pod({}, { status })).status;
  expect(statusOf({ podIP: '10.0.0.1' })).toMatchObject({ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] });
  expect(statusOf({ podIPs: [{ ip: '10.0.0.2' }] })).toMatchObject({ podIP: '10.0.0.2' });
  expect(statusOf({ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.2' }] })).toMatchObject({ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] });
});

test.each([
  ['nginx', 'latest'],
  ['nginx:1.27', '1.27'],
  ['nginx:latest', 'latest'],
  ['localhost:5000/a/b', 'latest'],
  ['example.com:8443/a/b:v1', 'v1'],
  [`nginx@sha256:${'a'.repeat(64)}`, undefined],
  [`nginx:latest@sha256:${'a'.repeat(64)}`, 'latest'],
  ['Nginx', undefined],
  [' nginx', undefined],
  ['', undefined],
  ['a'.repeat(64), undefined],
  ['nginx:', undefined],
  ['EXAMPLE/web', 'latest'],
])('the tag of %j is %j', (image, tag) => {
  expect(imageTag(image)).toBe(tag);
  expect(defaultPullPolicy(image)).toBe(tag === 'latest' ? 'Always' : 'IfNotPresent');
});
