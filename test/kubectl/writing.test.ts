import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';
import { claim, deployment, settings } from './manifests.ts';

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
const feed = (manifest: string, ...args: string[]) => moor.kubectlWith(manifest, ...args, '-f', '-');
async function field(ref: string, path: string): Promise<string> {
  return ok('get', ref, '-o', `jsonpath={${path}}`);
}

describe('kubectl writes', () => {
  test('create reports the object, and AlreadyExists for a second one', async () => {
    expect(await feed(settings('once'), 'create')).toMatchObject({ code: 0, stdout: 'configmap/once created\n' });
    const again = await feed(settings('once'), 'create');
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('Error from server (AlreadyExists)');
    expect(again.stderr).toContain('configmaps "once" already exists');
  });

  test('create reports a typo with its path and stores nothing', async () => {
    const typo = await feed(claim('typo').replace('volumeMode', '').replace('accessModes', 'accessmodes'), 'create');
    expect(typo.code).toBe(1);
    expect(typo.stderr).toContain('strict decoding error: unknown field "spec.accessmodes"');
    expect((await moor.kubectl('get', 'pvc', 'typo')).stderr).toContain('persistentvolumeclaims "typo" not found');
  });

  test('a dataSource that Kubernetes drops is a warning', async () => {
    const source = (kind: string) => claim(`from-${kind.toLowerCase()}`).replace('spec:', `spec:\n  dataSource: { kind: ${kind}, name: other }`);
    const dropped = await feed(source('Backup'), 'create');
    expect(dropped).toMatchObject({ code: 0, stdout: 'persistentvolumeclaim/from-backup created\n' });
    expect(dropped.stderr).toMatch(
      /^Warning: spec\.dataSource: dropped, and the volume will be empty: .* not "Backup" of API group ""; use spec\.dataSourceRef/,
    );
    expect(await field('pvc/from-backup', '.spec.dataSource')).toBe('');
    expect(await feed(source('PersistentVolumeClaim'), 'create')).toMatchObject({ code: 0, stderr: '' });
  });

  test('kubectl validates a List itself, against the schema of the server', async () => {
    const list = (items: string) => `apiVersion: v1\nkind: List\nitems:\n${items.replaceAll(/^(?=.)/gm, '  ').replace('  apiVersion', '- apiVersion')}`;
    expect(await feed(list(settings('listed')), 'create')).toMatchObject({ code: 0, stdout: 'configmap/listed created\n' });
    const typo = await feed(list(settings('listed-typo').replace('\ndata:', '\ndataa:')), 'create');
    expect(typo.stderr).toContain('unknown field "dataa" in io.k8s.api.core.v1.ConfigMap');
  });

  test('create --dry-run=server validates and stores nothing', async () => {
    expect(await feed(settings('dry'), 'create', '--dry-run=server')).toMatchObject({ code: 0, stdout: 'configmap/dry created (server dry run)\n' });
    expect((await moor.kubectl('get', 'cm', 'dry')).code).toBe(1);
    const bad = await feed(claim('dry').replace('1536Mi', '"-1"'), 'create', '--dry-run=server');
    expect(bad.stderr).toContain('spec.resources[storage]: Invalid value');
  });

  test('apply creates, patches only changed fields, and removes deleted fields', async () => {
    expect((await feed(settings('applied', { a: '1', b: '2' }), 'apply')).stdout).toBe('configmap/applied created\n');
    expect((await feed(settings('applied', { a: '1', b: '2' }), 'apply')).stdout).toBe('configmap/applied unchanged\n');
    await ok('patch', 'cm', 'applied', '-p', '{"data":{"theirs":"x"}}');
    expect((await feed(settings('applied', { a: '9' }), 'apply')).stdout).toBe('configmap/applied configured\n');
    expect(JSON.parse(await field('cm/applied', '.data'))).toEqual({ a: '9', theirs: 'x' });
  });

  test('apply merges containers by name', async () => {
    await feed(deployment('merged'), 'apply');
    await ok('set', 'image', 'deployment/merged', 'side=side:2');
    expect((await feed(deployment('merged', 'new:1'), 'apply')).stdout).toBe('deployment.apps/merged configured\n');
    expect(await field('deployment/merged', '.spec.template.spec.containers[*].image')).toBe('new:1 side:1');
    expect(await field('deployment/merged', '.metadata.generation')).toBe('3');
  });

  test('edit opens an editor and stores its result', async () => {
    await feed(settings('edited'), 'create');
    const unchanged = await moor.kubectlEditing('true', 'edit', 'cm', 'edited');
    expect(unchanged).toMatchObject({ code: 0, stderr: 'Edit cancelled, no changes made.\n' });
    const edited = await moor.kubectlEditing(`sed -i 's/a: "1"/a: edited/'`, 'edit', 'cm', 'edited');
    expect(edited).toMatchObject({ code: 0, stdout: 'configmap/edited edited\n' });
    expect(await field('cm/edited', '.data.a')).toBe('edited');
  });

  test('patch: strategic, merge and JSON', async () => {
    await feed(deployment('patched'), 'create');
    await ok('patch', 'deployment', 'patched', '-p', '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:7"}]}}}}');
    expect(await field('deployment/patched', '.spec.template.spec.containers[*].image')).toBe('registry.k8s.io/pause:3.10 side:7');
    await ok('patch', 'deployment', 'patched', '--type=merge', '-p', '{"spec":{"template":{"spec":{"containers":[{"name":"only","image":"o:1"}]}}}}');
    expect(await field('deployment/patched', '.spec.template.spec.containers[*].name')).toBe('only');
    await ok(
      'patch',
      'deployment',
      'patched',
      '--type=json',
      '-p',
      '[{"op":"test","path":"/spec/replicas","value":2},{"op":"replace","path":"/spec/replicas","value":5}]',
    );
    expect(await field('deployment/patched', '.spec.replicas')).toBe('5');
    const failed = await moor.kubectl('patch', 'deployment', 'patched', '--type=json', '-p', '[{"op":"test","path":"/spec/replicas","value":2}]');
    expect(failed.code).toBe(1);
  });

  test('label and annotate add, refuse to overwrite, overwrite with --overwrite, and remove', async () => {
    await feed(settings('marked'), 'create');
    expect(await ok('label', 'cm', 'marked', 'tier=gold')).toBe('configmap/marked labeled\n');
    expect((await moor.kubectl('label', 'cm', 'marked', 'tier=iron')).code).toBe(1);
    await ok('label', 'cm', 'marked', 'tier=iron', '--overwrite');
    expect(await ok('get', 'cm', '-l', 'tier=iron', '-o', 'name')).toBe('configmap/marked\n');
    await ok('label', 'cm', 'marked', 'tier-');
    expect(await field('cm/marked', '.metadata.labels')).toBe('');
    await ok('annotate', 'cm', 'marked', 'note=hello world');
    expect(await field('cm/marked', '.metadata.annotations.note')).toBe('hello world');
    const bad = await moor.kubectl('patch', 'cm', 'marked', '-p', '{"metadata":{"labels":{"bad":"not ok"}}}');
    expect(bad.stderr).toContain('metadata.labels: Invalid value: "not ok": a valid label must be an empty string or consist of alphanumeric characters');
  });

  test('replace needs an existing object, and its resourceVersion if the manifest has one', async () => {
    await feed(settings('replaced'), 'create');
    const old = await ok('get', 'cm', 'replaced', '-o', 'yaml');
    expect((await feed(settings('replaced', { z: '1' }), 'replace')).stdout).toBe('configmap/replaced replaced\n');
    expect(await field('cm/replaced', '.data')).toBe('{"z":"1"}');
    const stale = await feed(old, 'replace');
    expect(stale.stderr).toContain('the object has been modified; please apply your changes to the latest version and try again');
    expect((await feed(settings('never'), 'replace')).stderr).toContain('configmaps "never" not found');
    expect((await feed(settings('replaced', { f: '2' }), 'replace', '--force')).code).toBe(0);
  });

  test('scale changes replicas through the scale subresource', async () => {
    await feed(deployment('scaled'), 'create');
    expect(await ok('scale', 'deployment/scaled', '--replicas=7')).toBe('deployment.apps/scaled scaled\n');
    expect(await field('deployment/scaled', '.spec.replicas')).toBe('7');
    expect((await moor.kubectl('scale', 'deployment/scaled', '--replicas=1', '--current-replicas=3')).code).toBe(1);
  });

  test('create token issues a token that the server accepts', async () => {
    const token = (await ok('create', 'token', 'default')).trim();
    expect(token.split('.')).toHaveLength(3);
    expect(await ok('--token', token, 'get', 'namespace', 'default', '-o', 'name')).toBe('namespace/default\n');
  });

  test('run, expose and set', async () => {
    expect(await ok('run', 'quick', '--image=a:1')).toBe('pod/quick created\n');
    await feed(deployment('exposed'), 'create');
    expect(await ok('expose', 'deployment', 'exposed', '--port=80')).toBe('service/exposed exposed\n');
    expect(await field('service/exposed', '.spec.clusterIP')).toMatch(/^10\./);
    await ok('create', 'secret', 'generic', 'hidden', '--from-literal=k=v');
    expect(await field('secret/hidden', '.data.k')).toBe('dg==');
    await ok('create', 'quota', 'q', '--hard=pods=0');
    await ok('wait', 'quota/q', '--for=jsonpath={.status.hard.pods}=0', '--timeout=60s');
    expect((await moor.kubectl('run', 'refused', '--image=a:1')).stderr).toContain('exceeded quota: q, requested: pods=1, used: pods=');
    await ok('delete', 'quota', 'q');
  });
});
