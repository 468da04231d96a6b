/** Server-side apply with the real kubectl. Kubernetes' behaviour: v1.36. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';
import { claim, deployment, settings } from './manifests.ts';

let moor: MoorProcess;
beforeAll(async () => {
  moor = await startMoor();
});
afterAll(() => moor[Symbol.asyncDispose]());

const feed = (manifest: string, ...args: string[]) => moor.kubectlWith(manifest, ...args, '-f', '-');
const applied = (manifest: string, ...args: string[]) => feed(manifest, 'apply', '--server-side', ...args);

async function read(ref: string): Promise<{ metadata: { managedFields?: Entry[]; annotations?: Record<string, string> }; spec: never; data: never }> {
  const { code, stdout, stderr } = await moor.kubectl('get', ref, '-o', 'json', '--show-managed-fields');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as never;
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: unknown;
}

const ownersOf = async (ref: string): Promise<string[]> =>
  ((await read(ref)).metadata.managedFields ?? []).map(({ manager, operation, subresource = '' }) => [manager, operation, subresource].join(' ').trim());

const pod = (name: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  containers:
  - {name: app, image: "a:1", ports: [{containerPort: 80}]}
`;

const statefulSet = (name: string) => `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ${name}}
spec:
  replicas: 0
  serviceName: ${name}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: app, image: "a:1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`;

describe('kubectl apply --server-side', () => {
  test.each([
    ['configmap/made', settings('made')],
    ['persistentvolumeclaim/made', claim('made')],
    ['pod/made', pod('made')],
    ['statefulset.apps/made', statefulSet('made')],
    ['deployment.apps/made', deployment('made')],
  ])('creates %s, and applying it again changes nothing', async (ref, manifest) => {
    expect(await applied(manifest)).toMatchObject({ code: 0, stdout: `${ref} serverside-applied\n` });
    expect(await ownersOf(ref)).toContain('kubectl Apply');
    const spec = JSON.stringify((await read(ref)).spec ?? {});
    expect(await applied(manifest)).toMatchObject({ code: 0 });
    expect(JSON.stringify((await read(ref)).spec ?? {})).toBe(spec);
  });

  test('fields that are left out are removed, fields of other managers stay', async () => {
    await applied(settings('shared', { a: '1', b: '2' }));
    await applied(settings('shared', { c: '3' }), '--field-manager=other');
    await applied(settings('shared', { a: '9' }));
    expect((await read('cm/shared')).data).toEqual({ a: '9', c: '3' });
  });

  test('a conflict names the field and its manager, and --force-conflicts takes it over', async () => {
    await applied(deployment('fought'));
    const more = deployment('fought').replace('replicas: 2', 'replicas: 5');
    const refused = await applied(more, '--field-manager=other');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas');
    expect(await applied(more, '--field-manager=other', '--force-conflicts')).toMatchObject({ code: 0 });
    await moor.kubectl('scale', 'deployment/fought', '--replicas=1');
    expect((await applied(more, '--field-manager=other')).stderr).toContain('conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas');
  });

  test('kubectl edit owns the fields that it changes', async () => {
    await applied(settings('edited', { a: '1' }));
    await moor.kubectl('patch', 'cm', 'edited', '-p', '{"data":{"a":"2"}}');
    expect((await applied(settings('edited', { a: '1' }))).stderr).toContain('conflict with "kubectl-patch" using v1: .data.a');
  });

  test('--dry-run=server stores nothing, and a typo is reported', async () => {
    expect(await applied(settings('dry'), '--dry-run=server')).toMatchObject({ code: 0, stdout: 'configmap/dry serverside-applied (server dry run)\n' });
    expect((await moor.kubectl('get', 'cm', 'dry')).code).toBe(1);
    expect((await applied(settings('dry').replace('\ndata:', '\ndataa:'))).stderr).toContain('.dataa: field not declared in schema');
  });

  test('objects move from client-side apply without a conflict, and fields that are left out then are removed', async () => {
    await feed(deployment('moved'), 'apply');
    expect(await ownersOf('deployment/moved')).toContain('kubectl-client-side-apply Update');
    expect(await applied(deployment('moved').replace('replicas: 2', 'replicas: 3'))).toMatchObject({ code: 0 });
    const owners = await ownersOf('deployment/moved');
    expect(owners).toContain('kubectl Apply');
    expect(owners).not.toContain('kubectl-client-side-apply Update');
    expect(await applied(deployment('moved').replace('      - {name: side, image: "side:1"}\n', ''))).toMatchObject({ code: 0 });
    const { spec } = (await read('deployment/moved')) as unknown as { spec: { template: { spec: { containers: { name: string }[] } } } };
    expect(spec.template.spec.containers.map(({ name }) => name)).toEqual(['app']);
  });

  test('diff --server-side shows what an apply would do, and does nothing', async () => {
    await applied(settings('differing', { a: '1' }));
    expect((await feed(settings('differing', { a: '1' }), 'diff', '--server-side')).code).toBe(0);
    const diff = await feed(settings('differing', { a: '2' }), 'diff', '--server-side');
    expect(diff.code).toBe(1);
    expect(diff.stdout).toMatch(/-\s+a: "1"\n\+\s+a: "2"/);
    expect((await read('cm/differing')).data).toEqual({ a: '1' });
  });

  test('managed fields are shown only with --show-managed-fields', async () => {
    await applied(settings('shown', { a: '1' }));
    expect((await moor.kubectl('get', 'cm', 'shown', '-o', 'yaml')).stdout).not.toContain('managedFields');
    expect((await moor.kubectl('get', 'cm', 'shown', '-o', 'yaml', '--show-managed-fields')).stdout).toContain('f:data:\n        f:a: {}');
  });
});
