import type { Raw } from './try-kind.ts';

/** Jane of the team asks for a certificate: PKCS #10 in PEM in base64. */
export const sampleRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYU1JR0FBZ0VBTUI0eERUQUxCZ05WQkFvTUJIUmxZVzB4RFRBTEJnTlZCQU1NQkdwaGJtVXdXVEFUQmdjcQpoa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVMzak82bEtlc3ZKOUlGeUlWNGVmR04yeEZBcEQxcjFoK1hxS2ltClVhSjJ3RmExRU1RelVZdGxjOWJsWExNdVpYK3docURvcFM1Tm1PaitSZUZpVWF2b29BQXdDZ1lJS29aSXpqMEUKQXdJRFNRQXdSZ0loQUlDL0NPMDVvMENsTnlCcDZlQWc4VXNJdVViTVNPbWYyVmU3YnlVd2lPeGRBaUVBNHRaawp2Z1dRcnJEWjVPQnZicjNrTkVhRndHR3dTYjZTLzBSdlhPQVBraFE9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

/** A node asks for the certificate by which it is a client, and for the one that it serves with: PKCS #10 in PEM in base64. */
export const nodeRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIck1JR1NBZ0VBTURBeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVYTUJVR0ExVUVBd3dPYzNsegpkR1Z0T201dlpHVTZiakV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVMzak82bEtlc3ZKOUlGCnlJVjRlZkdOMnhGQXBEMXIxaCtYcUtpbVVhSjJ3RmExRU1RelVZdGxjOWJsWExNdVpYK3docURvcFM1Tm1PaisKUmVGaVVhdm9vQUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnRm1zaFFGcjc3ck1hTFNhZU5HMEU3MlluZ1lEVwoyeWdVV3ZTV09ySnVyd0lDSVFDbmcvNlRXa1N1eDd5NHFuUnhnS04yYWVMbHdGMFc0VHkyOTRpc04xajZEQT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';
export const servingRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkNqQ0JzZ0lCQURBd01SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14RnpBVkJnTlZCQU1NRG5ONQpjM1JsYlRwdWIyUmxPbTR4TUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFdDR6dXBTbnJMeWZTCkJjaUZlSG54amRzUlFLUTlhOVlmbDZpb3BsR2lkc0JXdFJERU0xR0xaWFBXNVZ5ekxtVi9zSWFnNktVdVRaam8KL2tYaFlsR3I2S0FnTUI0R0NTcUdTSWIzRFFFSkRqRVJNQTh3RFFZRFZSMFJCQVl3QklJQ2JqRXdDZ1lJS29aSQp6ajBFQXdJRFJ3QXdSQUlnSW9UWWFsemVPNUNIWUl3YVE4cXhlbkVIczFpc0I2YWwxTmZWaVpTSUt5NENJQWdjClJ3WXdXclQ5bzZkaHlhMEFjWU9pSkZRQzUvdDdTdHpDZW5rVUdtcUwKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==';

/** The least that is accepted of each kind, for tests. By type in the schema. */
export const samples: Readonly<Record<string, Raw>> = {
  Namespace: { metadata: { name: 'team' } },
  Node: { metadata: { name: 'n1' } },
  PersistentVolume: { metadata: { name: 'vol' }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/vol' } } },
  PersistentVolumeClaim: { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  ConfigMap: { metadata: { name: 'config' } },
  Secret: { metadata: { name: 'secret' } },
  ServiceAccount: { metadata: { name: 'robot' } },
  Service: { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } },
  Endpoints: { metadata: { name: 'web' } },
  Event: { metadata: { name: 'web.17', namespace: 'default' }, involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' } },
  ResourceQuota: { metadata: { name: 'quota' } },
  LimitRange: { metadata: { name: 'limits' }, spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }] } },
  StorageClass: { metadata: { name: 'fast' }, provisioner: 'example.com/disk' },
  VolumeAttachment: { metadata: { name: 'att' }, spec: { attacher: 'disk.example.com', nodeName: 'n1', source: { persistentVolumeName: 'vol' } } },
  CSINode: { metadata: { name: 'n1' }, spec: { drivers: [{ name: 'disk.example.com', nodeID: 'n1' }] } },
  CSIDriver: { metadata: { name: 'disk.example.com' }, spec: {} },
  CSIStorageCapacity: { metadata: { name: 'cap' }, storageClassName: 'fast' },
  VolumeAttributesClass: { metadata: { name: 'gold' }, driverName: 'disk.example.com', parameters: { tier: 'gold' } },
  Lease: { metadata: { name: 'leader' } },
  PodDisruptionBudget: { metadata: { name: 'budget' }, spec: { minAvailable: 1 } },
  PriorityClass: { metadata: { name: 'high' }, value: 1000 },
  EventsEvent: {
    metadata: { name: 'web.18', namespace: 'default' },
    eventTime: '2026-03-01T11:00:00.000000Z',
    regarding: { kind: 'Pod', namespace: 'default', name: 'web' },
    reportingController: 'example.com/disk',
    reportingInstance: 'disk-1',
    action: 'Attach',
    reason: 'Attached',
    type: 'Normal',
  },
  CustomResourceDefinition: {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  },
  EndpointSlice: { metadata: { name: 'web-1' }, addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] },
  CertificateSigningRequest: {
    metadata: { name: 'jane' },
    spec: { request: sampleRequest, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
  },
};
