import { describe, expect, test } from 'vitest';
import { refusal } from '../../try-kind.ts';
import { podKind } from '../pod.ts';

interface Mounting {
  readonly volumeMounts?: object[];
  readonly volumeDevices?: object[];
  readonly securityContext?: object;
}

/** What is said of a pod with these volumes, 'reason field: message' each. */
function said(volumes: readonly object[], container: Mounting = {}, more: object = {}): string[] {
  return refusal(podKind, {
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'main', image: 'nginx', ...container }], volumes, serviceAccountName: 'default', ...more },
  });
}

const emptyDir = (name: string): object => ({ name, emptyDir: {} });
const claim = (name: string): object => ({ name, persistentVolumeClaim: { claimName: name } });
const badLabel = (field: string, value: string): string =>
  `FieldValueInvalid ${field}: Invalid value: "${value}": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`;

describe('volumes', () => {
  test('need a name of their own', () => {
    expect(said([emptyDir('')])).toEqual(['FieldValueRequired spec.volumes[0].name: Required value']);
    expect(said([emptyDir('Data')])).toEqual([badLabel('spec.volumes[0].name', 'Data')]);
    expect(said([emptyDir('a.b')])).toEqual(['FieldValueInvalid spec.volumes[0].name: Invalid value: "a.b": must not contain dots']);
    expect(said([emptyDir('a'), emptyDir('a')])).toEqual(['FieldValueDuplicate spec.volumes[1].name: Duplicate value: "a"']);
  });

  test('have exactly one source, an emptyDir if they name none', () => {
    expect(said([{ name: 'a' }])).toEqual([]);
    expect(said([{ name: 'a', emptyDir: {}, persistentVolumeClaim: { claimName: 'x' } }])).toEqual([
      'FieldValueForbidden spec.volumes[0].persistentVolumeClaim: Forbidden: may not specify more than 1 volume type',
    ]);
  });

  test('of several sources the first in Kubernetes’ order is looked at, the others are refused by the names it has for them', () => {
    expect(said([{ name: 'a', hostPath: { path: '' }, cephfs: {}, downwardAPI: {} }])).toEqual([
      'FieldValueRequired spec.volumes[0].hostPath.path: Required value',
      'FieldValueForbidden spec.volumes[0].cephFS: Forbidden: may not specify more than 1 volume type',
      'FieldValueForbidden spec.volumes[0].downwarAPI: Forbidden: may not specify more than 1 volume type',
    ]);
  });

  test('a volume with which something is wrong cannot be mounted', () => {
    expect(said([{ name: 'a', persistentVolumeClaim: { claimName: '' } }], { volumeMounts: [{ name: 'a', mountPath: '/a' }] })).toEqual([
      'FieldValueRequired spec.volumes[0].persistentVolumeClaim.claimName: Required value',
      'FieldValueNotFound spec.containers[0].volumeMounts[0].name: Not found: "a"',
    ]);
  });
});

describe('sources', () => {
  const mode = 'must be a number between 0 and 0777 (octal), both inclusive';
  const cases: readonly (readonly [what: string, source: object, expected: string[]])[] = [
    ['emptyDir', { emptyDir: { sizeLimit: '-1' } }, ['FieldValueForbidden emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity']],
    [
      'hostPath',
      { hostPath: { path: '/a/../b', type: 'Pipe' } },
      [
        'FieldValueInvalid hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
        'FieldValueNotSupported hostPath.type: Unsupported value: "Pipe": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    [
      'gitRepo',
      { gitRepo: { repository: '', directory: '/abs' } },
      ['FieldValueRequired gitRepo.repository: Required value', 'FieldValueInvalid gitRepo.directory: Invalid value: "/abs": must be a relative path'],
    ],
    [
      'gcePersistentDisk',
      { gcePersistentDisk: { pdName: '', partition: 256 } },
      [
        'FieldValueRequired persistentDisk.pdName: Required value',
        'FieldValueInvalid persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive',
      ],
    ],
    [
      'awsElasticBlockStore',
      { awsElasticBlockStore: { volumeID: '', partition: -1 } },
      [
        'FieldValueRequired awsElasticBlockStore.volumeID: Required value',
        'FieldValueInvalid awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, inclusive',
      ],
    ],
    [
      'nfs',
      { nfs: { server: '', path: 'rel' } },
      ['FieldValueRequired nfs.server: Required value', 'FieldValueInvalid nfs.path: Invalid value: "rel": must be an absolute path'],
    ],
    [
      'iscsi',
      { iscsi: { targetPortal: '', iqn: 'abc', lun: 256, chapAuthSession: true, initiatorName: 'iqn.x' } },
      [
        'FieldValueRequired iscsi.targetPortal: Required value',
        'FieldValueInvalid iscsi.iqn: Invalid value: "abc": must be valid format starting with iqn, eui, or naa',
        'FieldValueInvalid iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
        'FieldValueRequired iscsi.secretRef: Required value',
        'FieldValueInvalid iscsi.initiatorname: Invalid value: "iqn.x": must be valid format',
      ],
    ],
    [
      'glusterfs',
      { glusterfs: { endpoints: '', path: '' } },
      ['FieldValueRequired glusterfs.endpoints: Required value', 'FieldValueRequired glusterfs.path: Required value'],
    ],
    ['flocker', { flocker: {} }, ['FieldValueRequired flocker: Required value: one of datasetName and datasetUUID is required']],
    ['rbd', { rbd: { monitors: [], image: '' } }, ['FieldValueRequired rbd.monitors: Required value', 'FieldValueRequired rbd.image: Required value']],
    [
      'cinder',
      { cinder: { volumeID: '', secretRef: {} } },
      ['FieldValueRequired cinder.volumeID: Required value', 'FieldValueRequired cinder.secretRef.name: Required value'],
    ],
    ['cephfs', { cephfs: { monitors: [] } }, ['FieldValueRequired cephfs.monitors: Required value']],
    [
      'quobyte',
      { quobyte: { registry: 'host', volume: '' } },
      [
        'FieldValueInvalid quobyte.registry: Invalid value: "host": must be a host:port pair or multiple pairs separated by commas',
        'FieldValueRequired quobyte.volume: Required value',
      ],
    ],
    ['fc', { fc: { targetWWNs: ['a'] } }, ['FieldValueRequired fc.lun: Required value: lun is required if targetWWNs is specified']],
    [
      'flexVolume',
      { flexVolume: { driver: '', options: { 'x.k8s.io/a': 'b' } } },
      [
        'FieldValueRequired flexVolume.driver: Required value',
        'FieldValueInvalid flexVolume.options[x.k8s.io/a]: Invalid value: "x.k8s.io/a": kubernetes.io and k8s.io namespaces are reserved',
      ],
    ],
    [
      'azureFile',
      { azureFile: { secretName: '', shareName: '' } },
      ['FieldValueRequired azureFile.secretName: Required value', 'FieldValueRequired azureFile.shareName: Required value'],
    ],
    [
      'azureDisk',
      { azureDisk: { diskName: 'd', diskURI: 'ftp://x', kind: 'Managed', cachingMode: 'All' } },
      [
        'FieldValueNotSupported azureDisk.cachingMode: Unsupported value: "All": supported values: "None", "ReadOnly", "ReadWrite"',
        'FieldValueNotSupported azureDisk.diskURI: Unsupported value: "ftp://x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
      ],
    ],
    ['vsphereVolume', { vsphereVolume: { volumePath: '' } }, ['FieldValueRequired vsphereVolume.volumePath: Required value']],
    ['photonPersistentDisk', { photonPersistentDisk: { pdID: '' } }, ['FieldValueRequired photonPersistentDisk.pdID: Required value']],
    ['portworxVolume', { portworxVolume: { volumeID: '' } }, ['FieldValueRequired portworxVolume.volumeID: Required value']],
    ['storageos', { storageos: {} }, ['FieldValueRequired storageos.volumeName: Required value']],
    [
      'scaleIO',
      { scaleIO: { gateway: '', system: '', volumeName: '', secretRef: null } },
      [
        'FieldValueRequired scaleIO.gateway: Required value',
        'FieldValueRequired scaleIO.system: Required value',
        'FieldValueRequired scaleIO.volumeName: Required value',
      ],
    ],
    [
      'csi',
      { csi: { driver: '', nodePublishSecretRef: { name: '' } } },
      ['FieldValueRequired csi.driver: Required value', 'FieldValueRequired csi.nodePublishSecretRef.name: Required value'],
    ],
    ['csi with a long name', { csi: { driver: 'd'.repeat(64) } }, ['FieldValueTooLong csi.driver: Too long: may not be more than 63 bytes']],
    [
      'image',
      { image: { pullPolicy: 'Sometimes' } },
      [
        'FieldValueRequired image.reference: Required value',
        'FieldValueNotSupported image.pullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
      ],
    ],
    [
      'secret',
      { secret: { secretName: '', defaultMode: 512, items: [{ key: '', path: '../x', mode: -1 }] } },
      [
        'FieldValueRequired secret.secretName: Required value',
        `FieldValueInvalid secret.defaultMode: Invalid value: 512: ${mode}`,
        'FieldValueRequired secret.items[0].key: Required value',
        'FieldValueInvalid secret.items[0].path: Invalid value: "../x": must not contain \'..\'',
        `FieldValueInvalid secret.items[0].mode: Invalid value: -1: ${mode}`,
      ],
    ],
    [
      'configMap',
      {
        configMap: {
          items: [
            { key: 'k', path: '..data' },
            { key: 'k', path: '' },
          ],
        },
      },
      [
        'FieldValueRequired configMap.name: Required value',
        'FieldValueInvalid configMap.items[0].path: Invalid value: "..data": must not start with \'..\'',
        'FieldValueRequired configMap.items[1].path: Required value',
      ],
    ],
    [
      'downwardAPI',
      {
        downwardAPI: {
          items: [
            { path: 'a' },
            { path: 'b', fieldRef: { fieldPath: 'status.podIP' } },
            { path: 'c', resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } },
          ],
        },
      },
      [
        'FieldValueRequired downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
        'FieldValueNotSupported downwardAPI.fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
        'FieldValueRequired downwardAPI.resourceFieldRef.containerName: Required value',
        'FieldValueInvalid downwardAPI.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      ],
    ],
  ];

  test.each(cases)('%s', (_, source, expected) => {
    expect(said([{ name: 'a', ...source }])).toEqual(expected.map((line) => line.replace(' ', ' spec.volumes[0].')));
  });

  test('keys of labels and annotations may be projected, and nothing else by key', () => {
    const file = (fieldPath: string): object => ({ path: 'f', fieldRef: { fieldPath } });
    expect(said([{ name: 'a', downwardAPI: { items: [file("metadata.labels['app']"), file("metadata.annotations['Example.com/X']")] } }])).toEqual([]);
    expect(said([{ name: 'a', downwardAPI: { items: [file("spec.nodeName['x']")] } }])).toEqual([
      "FieldValueInvalid spec.volumes[0].downwardAPI.fieldRef.fieldPath: Invalid value: \"spec.nodeName['x']\": error converting fieldPath: field label does not support subscript: spec.nodeName['x']",
    ]);
    expect(said([{ name: 'a', downwardAPI: { items: [file('spec.nope')] } }])).toEqual([
      'FieldValueInvalid spec.volumes[0].downwardAPI.fieldRef.fieldPath: Invalid value: "spec.nope": error converting fieldPath: field label not supported: spec.nope',
    ]);
  });

  test('an initiator needs room for volume and portal', () => {
    const iscsi = { targetPortal: 'p'.repeat(62), iqn: 'iqn.2001-04.com.example:storage', lun: 0, initiatorName: 'iqn.2001-04.com.example:me' };
    expect(said([{ name: 'abc', iscsi }])).toEqual([
      'FieldValueInvalid spec.volumes[0].name: Invalid value: "abc": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
    ]);
  });
});

describe('projected volumes', () => {
  const projected = (...sources: object[]): object[] => [{ name: 'all', projected: { sources } }];

  test('no two parts write the same file', () => {
    const secret = { secret: { name: 's', items: [{ key: 'k', path: 'same' }] } };
    const configMap = { configMap: { name: 'c', items: [{ key: 'k', path: 'same' }] } };
    expect(said(projected(secret, configMap))).toEqual(['FieldValueInvalid spec.volumes[0].projected: Invalid value: "c": conflicting duplicate paths']);
  });

  test('each part has one source', () => {
    expect(said(projected({ secret: { name: 's' }, configMap: { name: 'c' } }))).toEqual([
      'FieldValueForbidden spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source',
    ]);
  });

  test('parts must be named', () => {
    expect(said(projected({ secret: {} }, { configMap: {} }))).toEqual([
      'FieldValueRequired spec.volumes[0].projected.sources[0].secret.name: Required value',
      'FieldValueRequired spec.volumes[0].projected.sources[1].configMap.name: Required value',
    ]);
  });

  test('tokens live between ten minutes and 2^32 seconds, and need a path', () => {
    const token = (serviceAccountToken: object): object => ({ serviceAccountToken });
    expect(said(projected(token({ path: 'token', expirationSeconds: 599 }), token({ path: '', expirationSeconds: 2 ** 32 + 1 })))).toEqual([
      'FieldValueInvalid spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      'FieldValueInvalid spec.volumes[0].projected.sources[1].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      'FieldValueRequired spec.volumes[0].projected.path: Required value',
    ]);
  });

  test('a pod without a service account has no tokens', () => {
    expect(said(projected({ serviceAccountToken: { path: 'token' } }), {}, { serviceAccountName: '' })).toEqual([
      'FieldValueForbidden spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
    ]);
  });

  test('sources of features that are off are dropped, not refused', () => {
    expect(said(projected({ clusterTrustBundle: { path: '/wrong' } }, { podCertificate: { signerName: '', keyType: '' } }))).toEqual([]);
  });
});

describe('ephemeral volumes', () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const ephemeral = (template: object | undefined): object => ({ name: 'scratch', ephemeral: template === undefined ? {} : { volumeClaimTemplate: template } });

  test('need a template of a claim', () => {
    expect(said([ephemeral({ spec })])).toEqual([]);
    expect(said([ephemeral(undefined)])).toEqual(['FieldValueRequired spec.volumes[0].ephemeral.volumeClaimTemplate: Required value']);
    expect(said([ephemeral({ spec: {} })])).toEqual([
      'FieldValueRequired spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required',
      'FieldValueRequired spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value',
    ]);
  });

  test('of the claim’s metadata only labels and annotations can be given', () => {
    expect(said([ephemeral({ metadata: { name: 'x', labels: { a: 'b' } }, spec })])).toEqual([
      'FieldValueForbidden spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set',
    ]);
  });

  test('another volume of the pod cannot use the claim that is made for one', () => {
    expect(said([ephemeral({ spec }), claim('web-scratch')])).toEqual([
      'FieldValueInvalid spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "web-scratch": must not reference a PVC that gets created for an ephemeral volume',
    ]);
  });

  test('the claim must get a name that claims can have', () => {
    const pod = { metadata: { name: 'w'.repeat(250) }, spec: { containers: [{ name: 'main', image: 'nginx' }], volumes: [ephemeral({ spec })] } };
    expect(refusal(podKind, pod)).toEqual([
      `FieldValueInvalid spec.volumes[0].name: Invalid value: "scratch": PVC name "${'w'.repeat(250)}-scratch": must be no more than 253 characters`,
    ]);
  });
});
