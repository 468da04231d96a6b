import { describe, expect, it } from 'vitest';
import type { Kind } from '../kind.ts';
import { openApiV2, openApiV3, type ServedResource, type ServedVersion } from './index.ts';

const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const status = (kind: string) => ({ name: 'status', kind, verbs: ['get', 'patch', 'update'] });
const pods: ServedResource = {
  name: 'pods',
  kind: 'Pod',
  namespaced: true,
  verbs: all,
  subresources: [{ name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] }, status('Pod')],
};
const volumes: ServedResource = {
  name: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
  verbs: all,
  subresources: [status('PersistentVolume')],
};
const bindings: ServedResource = { name: 'bindings', kind: 'Binding', namespaced: true, verbs: ['create'], subresources: [] };
const core: ServedVersion = { group: '', version: 'v1', resources: [pods, volumes, bindings] };
const storage: ServedVersion = {
  group: 'storage.k8s.io',
  version: 'v1',
  resources: [{ name: 'storageclasses', kind: 'StorageClass', namespaced: false, verbs: all, subresources: [] }],
};

interface Operation {
  operationId: string;
  parameters: { name: string; in: string }[];
  'x-kubernetes-action': string;
  'x-kubernetes-group-version-kind': { group: string; kind: string; version: string };
  responses: Record<string, { content: Record<string, { schema: { $ref: string } }> }>;
}
interface Document {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: Record<string, unknown> }> };
  definitions: Record<string, { properties: Record<string, unknown>; 'x-kubernetes-group-version-kind': unknown }>;
}

const v3 = openApiV3(core, 'v1.36.4') as Document;
const v2 = openApiV2([core, storage], 'v1.36.4') as Document;

const ids = (document: Document): Record<string, Record<string, string>> =>
  Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).flatMap(([method, { operationId }]) => (method === 'parameters' ? [] : [[method, operationId]]))),
    ]),
  );

describe('paths', () => {
  it('are those of the resources served, under the ids of Kubernetes', () => {
    expect(ids(v3)).toEqual({
      '/api/v1/': { get: 'getCoreV1APIResources' },
      '/api/v1/pods': { get: 'listCoreV1PodForAllNamespaces' },
      '/api/v1/namespaces/{namespace}/pods': {
        get: 'listCoreV1NamespacedPod',
        post: 'createCoreV1NamespacedPod',
        delete: 'deleteCoreV1CollectionNamespacedPod',
      },
      '/api/v1/namespaces/{namespace}/pods/{name}': {
        get: 'readCoreV1NamespacedPod',
        put: 'replaceCoreV1NamespacedPod',
        patch: 'patchCoreV1NamespacedPod',
        delete: 'deleteCoreV1NamespacedPod',
      },
      '/api/v1/namespaces/{namespace}/pods/{name}/eviction': { post: 'createCoreV1NamespacedPodEviction' },
      '/api/v1/namespaces/{namespace}/pods/{name}/status': {
        get: 'readCoreV1NamespacedPodStatus',
        put: 'replaceCoreV1NamespacedPodStatus',
        patch: 'patchCoreV1NamespacedPodStatus',
      },
      '/api/v1/persistentvolumes': {
        get: 'listCoreV1PersistentVolume',
        post: 'createCoreV1PersistentVolume',
        delete: 'deleteCoreV1CollectionPersistentVolume',
      },
      '/api/v1/persistentvolumes/{name}': {
        get: 'readCoreV1PersistentVolume',
        put: 'replaceCoreV1PersistentVolume',
        patch: 'patchCoreV1PersistentVolume',
        delete: 'deleteCoreV1PersistentVolume',
      },
      '/api/v1/persistentvolumes/{name}/status': {
        get: 'readCoreV1PersistentVolumeStatus',
        put: 'replaceCoreV1PersistentVolumeStatus',
        patch: 'patchCoreV1PersistentVolumeStatus',
      },
      '/api/v1/namespaces/{namespace}/bindings': { post: 'createCoreV1NamespacedBinding' },
    });
    expect(ids(v2)['/apis/storage.k8s.io/v1/storageclasses/{name}']).toMatchObject({ get: 'readStorageV1StorageClass' });
  });

  it('name their action and kind: that is how clients find them', () => {
    const eviction = v3.paths['/api/v1/namespaces/{namespace}/pods/{name}/eviction']?.['post'];
    expect(eviction?.['x-kubernetes-action']).toBe('post');
    expect(eviction?.['x-kubernetes-group-version-kind']).toEqual({ group: 'policy', kind: 'Eviction', version: 'v1' });
  });

  it('a patch takes fieldValidation: kubectl looks for it before it leaves validation to the server', () => {
    for (const document of [v2, v3]) {
      const patch = document.paths['/api/v1/persistentvolumes/{name}']?.['patch'];
      expect(patch?.parameters.filter(({ name }) => name === 'fieldValidation')).toMatchObject([{ in: 'query' }]);
    }
  });
});

describe('schemas', () => {
  const references = (value: unknown): string[] => [...JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '');

  it('every reference leads somewhere', () => {
    for (const reference of references(v3)) expect(v3.components.schemas).toHaveProperty([reference.replace('#/components/schemas/', '')]);
    for (const reference of references(v2)) expect(v2.definitions).toHaveProperty([reference.replace('#/definitions/', '')]);
  });

  it('carry what patches and applies need', () => {
    expect(v3.components.schemas['io.k8s.api.core.v1.PodSpec']?.properties['volumes']).toEqual({
      items: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.Volume' }], default: {} },
      type: 'array',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge,retainKeys',
    });
    expect(v2.definitions['io.k8s.api.core.v1.ContainerPort']).toEqual({
      properties: {
        name: { type: 'string' },
        hostPort: { format: 'int32', type: 'integer' },
        containerPort: { format: 'int32', type: 'integer' },
        protocol: { enum: ['SCTP', 'TCP', 'UDP'], type: 'string' },
        hostIP: { type: 'string' },
      },
      required: ['containerPort'],
      type: 'object',
    });
    expect(v2.definitions['io.k8s.api.storage.v1.StorageClass']?.['x-kubernetes-group-version-kind']).toEqual([
      { group: 'storage.k8s.io', kind: 'StorageClass', version: 'v1' },
    ]);
  });

  it('a document of one version holds no other kinds', () => {
    expect(Object.keys(v3.components.schemas)).not.toContain('io.k8s.api.storage.v1.StorageClass');
    expect(v3.info.version).toBe('v1.36.4');
  });
});

describe('custom resources, in Swagger 2 (v1.36.4: ToStructuralOpenAPIV2)', () => {
  const widget = (schema: object): Kind =>
    ({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', custom: { schema, listKind: 'Widgets' } }) as unknown as Kind;
  const served: ServedVersion = {
    group: 'example.com',
    version: 'v1',
    resources: [{ name: 'widgets', kind: 'Widget', namespaced: true, verbs: all, subresources: [] }],
  };
  const documented = (schema: object) => openApiV2([served], 'v1.36.4', [widget(schema)]) as Document;

  it('have definitions, and operations that refer to them', () => {
    const { definitions, paths } = documented({
      type: 'object',
      properties: { spec: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } } },
    });
    expect(definitions['com.example.v1.Widget']).toMatchObject({
      properties: { spec: { required: ['a'] }, metadata: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' } },
      'x-kubernetes-group-version-kind': [{ group: 'example.com', kind: 'Widget', version: 'v1' }],
    });
    expect(definitions['com.example.v1.Widgets']).toBeDefined();
    const collection = paths['/apis/example.com/v1/namespaces/{namespace}/widgets'];
    expect(collection).toMatchObject({
      get: {
        responses: { 200: { schema: { $ref: '#/definitions/com.example.v1.Widgets' } } },
        produces: ['application/json', 'application/yaml', 'application/json;stream=watch'],
      },
      post: {
        parameters: expect.arrayContaining([expect.objectContaining({ in: 'body', schema: { $ref: '#/definitions/com.example.v1.Widget' } })]) as unknown,
      },
    });
  });

  it('are any object where the root preserves unknown fields', () => {
    const { definitions } = documented({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { spec: { type: 'string' } } });
    expect(definitions['com.example.v1.Widget']).toEqual({
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'example.com', kind: 'Widget', version: 'v1' }],
    });
  });

  it('leave out what Swagger 2 cannot express', () => {
    const { definitions } = documented({
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          required: ['maybe', 'sure'],
          anyOf: [{ required: ['sure'] }],
          properties: {
            maybe: { type: 'object', nullable: true, properties: { a: { type: 'string' } } },
            sure: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
            free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
    });
    expect(definitions['com.example.v1.Widget']?.properties['spec']).toEqual({
      type: 'object',
      required: ['sure'],
      properties: { maybe: {}, sure: { 'x-kubernetes-int-or-string': true }, free: { 'x-kubernetes-preserve-unknown-fields': true } },
    });
  });
});
