/** Requests whose cost is not that of one field: patches, applies, selectors, definitions, other content types. Each grows with `n`. */
import type { Method } from '../../src/api/request-info.ts';

export interface HostileRequest {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly type: string;
  readonly query?: (n: number) => string;
  readonly body: (n: number) => string;
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const services = '/api/v1/namespaces/default/services';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const types = {
  json: 'application/json',
  yaml: 'application/yaml',
  patch: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const times = <T>(n: number, item: (i: number) => T): T[] => Array.from({ length: Math.ceil(n) }, (_, i) => item(i));
const keyed = (n: number, prefix: string, value: unknown) => Object.fromEntries(times(n, (i) => [`${prefix}${i}`, value]));

const post = (name: string, path: string, object: (n: number) => object): HostileRequest => ({
  name,
  method: 'POST',
  path,
  type: types.json,
  query: () => 'dryRun=All',
  body: (n) => JSON.stringify({ metadata: { name: 'x' }, ...object(n) }),
});

const patch = (name: string, type: keyof typeof types, body: (n: number) => unknown): HostileRequest => ({
  name,
  method: 'PATCH',
  path: `${configMaps}/c`,
  type: types[type],
  query: () => (type === 'apply' ? 'dryRun=All&fieldManager=m&force=true' : 'dryRun=All'),
  body: (n) => JSON.stringify(body(n)),
});

const list = (name: string, query: (n: number) => string): HostileRequest => ({
  name,
  method: 'GET',
  path: configMaps,
  type: types.json,
  query,
  body: () => '',
});

const definition = (name: string, schema: (n: number) => object, version: (n: number) => object = () => ({})): HostileRequest =>
  post(name, definitions, (n) => ({
    metadata: { name: 'as.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', ...schema(n) } }, ...version(n) }],
    },
  }));

/** Compiled patterns are cached: each request has others. */
let patterns = 0;
const fresh = (): string => String(patterns++).padStart(6, '0');

const owners = (n: number) => times(n, (i) => ({ apiVersion: 'v1', kind: 'X', name: `n${i}`, uid: `${i}` }));

const configMap = (members: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, ...members });

/** `n` is about the number of items. */
export const hostileRequests: readonly HostileRequest[] = [
  post('owner references', configMaps, (n) => ({
    metadata: { name: 'x', ownerReferences: owners(n) },
  })),
  post('managers of fields', configMaps, (n) => ({
    metadata: {
      name: 'x',
      managedFields: times(n, (i) => ({
        manager: `m${i}`,
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { [`f:k${i}`]: {} } },
      })),
    },
  })),
  post('ports of a Service', services, (n) => ({ spec: { ports: times(n, (i) => ({ name: `p${i}`, port: i + 1, targetPort: i + 1 })) } })),
  post('ports of nodes of a Service', services, (n) => ({
    spec: { type: 'NodePort', ports: times(n, (i) => ({ name: `p${i}`, port: (i % 65_535) + 1, nodePort: (i % 2_768) + 30_000 })) },
  })),
  post('allocated ports of nodes', services, (n) => ({ spec: { type: 'NodePort', ports: times(n, (i) => ({ name: `p${i}`, port: (i % 65_535) + 1 })) } })),
  post('values of a topology', '/apis/storage.k8s.io/v1/storageclasses', (n) => ({
    provisioner: 'a.b',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: times(n, (i) => `v${i}`) }] }],
  })),
  post('environment of a container', '/api/v1/namespaces/default/pods', (n) => ({
    spec: { containers: [{ name: 'a', image: 'x', env: times(n, (i) => ({ name: `E${i}`, value: '$(E0)' })) }] },
  })),
  post('containers and volumes', '/api/v1/namespaces/default/pods', (n) => ({
    spec: {
      containers: times(n / 2, (i) => ({ name: `c${i}`, image: 'x', volumeMounts: [{ name: `v${i}`, mountPath: `/m${i}` }] })),
      volumes: times(n / 2, (i) => ({ name: `v${i}`, emptyDir: {} })),
    },
  })),
  patch('copies that double', 'patch', (n) => times(Math.min(n, 9_000), (i) => ({ op: 'copy', from: '/data', path: `/data/b${i}` }))),
  patch('removals from a long list', 'patch', (n) => [
    { op: 'add', path: '/x', value: times(n * 40, () => 0) },
    ...times(Math.min(n, 9_000), () => ({ op: 'remove', path: '/x/0' })),
  ]),
  patch('moves in a long list', 'patch', (n) => [
    { op: 'add', path: '/x', value: times(n * 40, () => 0) },
    ...times(Math.min(n, 9_000), () => ({ op: 'move', from: '/x/0', path: '/x/9' })),
  ]),
  patch('a long index', 'patch', (n) => [
    { op: 'add', path: '/x', value: [] },
    { op: 'add', path: `/x/${'9'.repeat(n * 50)}`, value: 1 },
  ]),
  patch('many keys', 'strategic', (n) => ({ data: keyed(n, 'k', 'b') })),
  patch('removed scalars', 'strategic', (n) => ({
    metadata: { finalizers: times(n, (i) => `a.b/f${i}`), '$deleteFromPrimitiveList/finalizers': times(n, (i) => `a.b/f${i}`) },
  })),
  patch('an order of scalars', 'strategic', (n) => ({
    metadata: { finalizers: times(n, (i) => `a.b/f${i}`), '$setElementOrder/finalizers': times(n, (i) => `a.b/f${i}`) },
  })),
  patch('merged owners', 'strategic', (n) => ({ metadata: { ownerReferences: owners(n) } })),
  patch('deleted owners', 'strategic', (n) => ({ metadata: { ownerReferences: owners(n).map(({ uid }) => ({ uid, $patch: 'delete' })) } })),
  patch('many keys', 'merge', (n) => ({ data: keyed(n, 'k', 'b') })),
  patch('many keys', 'apply', (n) => configMap({ data: keyed(n, 'k', 'b') })),
  patch('many owners', 'apply', (n) => configMap({ metadata: { name: 'c', ownerReferences: owners(n) } })),
  list('terms of a label selector', (n) => `labelSelector=${times(n / 8, (i) => `a${i}=b`).join()}`),
  list('values of a label selector', (n) => `labelSelector=a in (${times(n / 4, (i) => `b${i}`).join()})`),
  list('a number in a label selector', (n) => `labelSelector=a>${'9'.repeat(n * 4)}`),
  list('terms of a field selector', (n) => `fieldSelector=${times(n / 8, (i) => `metadata.name!=b${i}`).join()}`),
  list('a limit', (n) => `limit=${'9'.repeat(n * 4)}`),
  list('a resource version', (n) => `resourceVersionMatch=Exact&resourceVersion=${'9'.repeat(n * 4)}`),
  list('a page', (n) => `continue=${'a'.repeat(n * 4)}`),
  list('a timeout', (n) => `timeoutSeconds=${'9'.repeat(n * 4)}`),
  {
    name: 'a grace period',
    method: 'DELETE',
    path: `${configMaps}/none`,
    type: types.json,
    query: (n) => `gracePeriodSeconds=${'9'.repeat(n * 4)}`,
    body: () => '',
  },
  {
    name: 'a grace period in the body',
    method: 'DELETE',
    path: `${configMaps}/none`,
    type: types.json,
    body: (n) => `{"gracePeriodSeconds":${'9'.repeat(n * 50)}}`,
  },
  {
    name: 'a version',
    method: 'PUT',
    path: `${configMaps}/c`,
    type: types.json,
    body: (n) => JSON.stringify(configMap({ metadata: { name: 'c', resourceVersion: '9'.repeat(n * 50) } })),
  },
  {
    name: 'keys in YAML',
    method: 'POST',
    path: configMaps,
    type: types.yaml,
    query: () => 'dryRun=All',
    body: (n) => `metadata: {name: x}\ndata:\n${times(n, (i) => `  k${i}: ""`).join('\n')}`,
  },
  {
    name: 'a number in YAML',
    method: 'POST',
    path: configMaps,
    type: types.yaml,
    query: () => 'dryRun=All',
    body: (n) => `metadata: {name: x, generation: ${'9'.repeat(n * 50)}}`,
  },
  {
    name: 'duplicate keys in YAML',
    method: 'POST',
    path: configMaps,
    type: types.yaml,
    query: () => 'dryRun=All',
    body: (n) => `metadata: {name: x}\ndata:\n${times(n, () => '  k: ""').join('\n')}`,
  },
  {
    name: 'aliases in YAML',
    method: 'POST',
    path: configMaps,
    type: types.yaml,
    query: () => 'dryRun=All',
    body: (n) => `metadata: {name: x}\na: &a [b]\nc: [${times(n, () => '*a').join()}]`,
  },
  definition('properties', (n) => ({ properties: keyed(n, 'p', { type: 'string' }) })),
  definition('patterns', (n) => ({
    properties: Object.fromEntries(times(n / 20, (i) => [`p${i}`, { type: 'string', pattern: `\\pL{${500 + (i % 499)}}${i}-${fresh()}` }])),
  })),
  definition('a long pattern', (n) => ({ properties: { a: { type: 'string', pattern: `${'[a-z]'.repeat(n)}${fresh()}` } } })),
  definition('a long pattern of Unicode classes', (n) => ({ properties: { a: { type: 'string', pattern: `${'\\pL'.repeat(n)}${fresh()}` } } })),
  definition('values of an enum', (n) => ({ properties: { a: { type: 'string', enum: times(n, (i) => `e${i}`) } } })),
  definition(
    'printer columns',
    () => ({}),
    (n) => ({ additionalPrinterColumns: times(n / 2, (i) => ({ name: `c${i}`, type: 'string', jsonPath: `.a${i}` })) }),
  ),
  definition(
    'a long JSONPath',
    () => ({}),
    (n) => ({ additionalPrinterColumns: [{ name: 'c', type: 'string', jsonPath: '.a'.repeat(n) }] }),
  ),
  definition('a long number in CEL', (n) => ({ 'x-kubernetes-validations': [{ rule: `${'9'.repeat(n * 50)} == 1` }] })),
  definition('a long sum in CEL', (n) => ({ 'x-kubernetes-validations': [{ rule: `${'1+'.repeat(n)}1 == 1` }] })),
  definition('brackets in CEL', (n) => ({ 'x-kubernetes-validations': [{ rule: '('.repeat(n) }] })),
];
