import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';

let moor: MoorProcess;
beforeAll(async () => {
  moor = await startMoor();
});
afterAll(() => moor[Symbol.asyncDispose]());

async function ok(...args: string[]): Promise<string> {
  const result = await moor.kubectl(...args);
  expect(result, `kubectl ${args.join(' ')}: ${result.stderr}`).toMatchObject({ code: 0 });
  return result.stdout;
}

async function apply(object: unknown, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await moor.kubectlWith(JSON.stringify(object), 'apply', '-f', '-', ...args);
  return stdout + stderr;
}

const spec = {
  type: 'object',
  required: ['size'],
  'x-kubernetes-validations': [
    { rule: 'self.replicas <= self.size * 2', messageExpression: "'at most ' + string(self.size * 2)", fieldPath: '.replicas' },
    { rule: "self.name.matches('^[a-z]+$')", message: 'a name is made of letters' },
  ],
  properties: {
    size: { type: 'integer', description: 'How large it is.', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'it only grows' }] },
    replicas: { type: 'integer', default: 1 },
    name: { type: 'string', default: 'x', pattern: '^([a-z0-9]+)+$' },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port'],
      items: { type: 'object', required: ['port'], properties: { port: { type: 'integer' }, name: { type: 'string' } } },
    },
  },
};

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } },
        subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        ],
        selectableFields: [{ jsonPath: '.spec.name' }],
      },
    ],
  },
};

const widget = (name: string, more: object) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec: more });

describe('kubectl on custom resources', () => {
  test('a CustomResourceDefinition is established, discovered and explained', async () => {
    expect(await apply(definition)).toBe('customresourcedefinition.apiextensions.k8s.io/widgets.example.com created\n');
    expect(await ok('wait', '--for=condition=Established', 'crd/widgets.example.com', '--timeout=60s')).toContain('condition met');
    await expect.poll(() => ok('api-resources', '--api-group=example.com')).toMatch(/widgets\s+wd\s+example\.com\/v1\s+true\s+Widget/);
    await expect.poll(() => ok('explain', 'widgets.spec.size')).toMatch(/FIELD: size <integer>\n+DESCRIPTION:\n\s+How large it is\./);
    await expect.poll(() => ok('explain', 'widgets.spec', '--output=plaintext-openapiv2')).toContain('How large it is.');
  });

  test('objects get defaults and are validated by schema and rules', async () => {
    expect(await apply(widget('a', { size: 1 }))).toBe('widget.example.com/a created\n');
    expect(await ok('get', 'wd', 'a', '-o', 'jsonpath={.spec}')).toBe('{"name":"x","replicas":1,"size":1}');
    expect(await apply(widget('b', {}))).toContain('spec.size: Required value');
    expect(await apply(widget('b', { size: 1, replicas: 5 }))).toContain('The Widget "b" is invalid: spec.replicas: Invalid value: at most 2');
    expect(await apply(widget('b', { size: 1, name: '9' }))).toContain('spec: Invalid value: a name is made of letters');
    expect(await apply(widget('b', { size: 1, other: 2 }))).toContain('strict decoding error: unknown field "spec.other"');
    expect(await apply(widget('a', { size: 0, replicas: 0 }))).toContain('spec.size: Invalid value: 0: it only grows');
  });

  test('columns, selectable fields, status and scale', async () => {
    await ok('patch', 'wd', 'a', '--subresource=status', '--type=merge', '-p', '{"status":{"replicas":1,"conditions":[{"type":"Ready","status":"True"}]}}');
    expect(await ok('get', 'wd')).toMatch(/^NAME\s+SIZE\s+READY\na\s+1\s+True\n$/);
    expect(await ok('get', 'all')).toContain('widget.example.com/a');
    expect(await ok('get', 'wd', '--field-selector=spec.name=y', '-o', 'name')).toBe('');
    expect(await ok('scale', 'wd', 'a', '--replicas=2')).toBe('widget.example.com/a scaled\n');
    expect(await ok('get', 'wd', 'a', '-o', 'jsonpath={.spec.replicas}')).toBe('2');
  });

  test('server-side apply merges lists by their keys', async () => {
    const ports = (manager: string, port: number) =>
      apply(widget('a', { size: 1, ports: [{ port, name: manager }] }), '--server-side', `--field-manager=${manager}`);
    await ports('one', 80);
    expect(await ports('two', 81)).toBe('widget.example.com/a serverside-applied\n');
    expect(await ok('get', 'wd', 'a', '-o', 'jsonpath={.spec.ports[*].port}')).toBe('80 81');
    const clash = await apply(widget('a', { size: 1, ports: [{ port: 80, name: 'mine' }] }), '--server-side', '--field-manager=two');
    expect(clash).toContain('conflict with "one": .spec.ports[port=80].name');
  });

  test('dependents are deleted with their owner, and objects with their definition', async () => {
    const uid = await ok('get', 'wd', 'a', '-o', 'jsonpath={.metadata.uid}');
    const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'a', uid }];
    await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned', ownerReferences } });
    const watching = moor.kubectl('get', 'wd', '--watch-only', '-o', 'name');
    await ok('delete', 'crd', 'widgets.example.com');
    // The watch ends by itself, since the kind is gone.
    await watching;
    await ok('wait', '--for=delete', 'configmap/owned', '--timeout=60s');
    expect(await moor.kubectl('get', 'wd')).toMatchObject({ code: 1 });
  });
});
