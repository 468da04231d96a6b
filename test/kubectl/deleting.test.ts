import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';
import { settings } from './manifests.ts';

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
async function create(manifest: string): Promise<void> {
  expect(await moor.kubectlWith(manifest, 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
}
async function ownedBy(owner: string, name: string): Promise<void> {
  const uid = await ok('get', 'cm', owner, '-o', 'jsonpath={.metadata.uid}');
  await create(settings(name, { a: '1' }, `  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: ${owner}, uid: ${uid}, blockOwnerDeletion: true}]\n`));
}

describe('kubectl deletes', () => {
  test('delete removes, waits for the end, and reports missing objects', async () => {
    await create(settings('gone'));
    expect(await ok('delete', 'cm', 'gone')).toBe('configmap "gone" deleted\n');
    expect((await moor.kubectl('delete', 'cm', 'gone')).stderr).toContain('configmaps "gone" not found');
    expect((await moor.kubectl('delete', 'cm', 'gone', '--ignore-not-found')).code).toBe(0);
  });

  test('delete --wait waits for finalizers; --wait=false does not', async () => {
    await create(settings('held', { a: '1' }, '  finalizers: [example.com/hold]\n'));
    expect(await ok('delete', 'cm', 'held', '--wait=false')).toBe('configmap "held" deleted\n');
    expect(await ok('get', 'cm', 'held', '-o', 'jsonpath={.metadata.deletionTimestamp}')).toMatch(/^\d{4}-/);
    const refused = await moor.kubectl('patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}');
    expect(refused.stderr).toContain('no new finalizers can be added if the object is being deleted');
    // kubectl prints "deleted" and then waits: the finalizer is removed after that.
    const waiting = moor.spawnKubectl('delete', 'cm', 'held', '--timeout=60s');
    const ended = once(waiting, 'exit');
    await once(waiting.stdout, 'data');
    expect(waiting.exitCode).toBeNull();
    await ok('patch', 'cm', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    expect((await ended)[0]).toBe(0);
    expect((await moor.kubectl('get', 'cm', 'held')).code).toBe(1);
  });

  test('--cascade=background removes the dependents', async () => {
    await create(settings('back-owner'));
    await ownedBy('back-owner', 'back-child');
    await ownedBy('back-child', 'back-grandchild');
    await ok('delete', 'cm', 'back-owner');
    await ok('wait', 'cm/back-grandchild', '--for=delete', '--timeout=60s');
    await ok('wait', 'cm/back-child', '--for=delete', '--timeout=60s');
  });

  test('--cascade=foreground keeps the owner until its dependents are gone', async () => {
    await create(settings('front-owner'));
    await ownedBy('front-owner', 'front-child');
    await ok('patch', 'cm', 'front-child', '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/hold"]}}');
    await ok('delete', 'cm', 'front-owner', '--cascade=foreground', '--wait=false');
    await ok('wait', 'cm/front-child', '--for=jsonpath={.metadata.deletionTimestamp}', '--timeout=60s');
    expect(await ok('get', 'cm', 'front-owner', '-o', 'jsonpath={.metadata.finalizers}')).toBe('["foregroundDeletion"]');
    await ok('patch', 'cm', 'front-child', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    await ok('wait', 'cm/front-owner', '--for=delete', '--timeout=60s');
  });

  test('--cascade=orphan leaves the dependents without an owner', async () => {
    await create(settings('orphan-owner'));
    await ownedBy('orphan-owner', 'orphan-child');
    await ok('delete', 'cm', 'orphan-owner', '--cascade=orphan');
    expect(await ok('get', 'cm', 'orphan-child', '-o', 'jsonpath={.metadata.ownerReferences}')).toBe('');
  });

  test('deleting a namespace empties it first', async () => {
    await ok('create', 'namespace', 'doomed');
    await ok('create', 'configmap', 'inside', '-n', 'doomed');
    await ok('create', 'secret', 'generic', 'inside', '-n', 'doomed');
    await ok('delete', 'namespace', 'doomed', '--timeout=60s');
    expect((await moor.kubectl('get', 'cm', 'inside', '-n', 'doomed')).stderr).toContain('NotFound');
    await ok('create', 'namespace', 'doomed');
    expect(await ok('get', 'secrets', '-n', 'doomed', '-o', 'name')).toBe('');
  });

  test('delete --all and by label delete a whole collection', async () => {
    await ok('create', 'namespace', 'bulk');
    for (const n of ['a', 'b', 'c']) await ok('create', 'secret', 'generic', n, '-n', 'bulk');
    await ok('label', 'secret', 'b', 'x=y', '-n', 'bulk');
    await ok('delete', 'secret', '-l', 'x=y', '-n', 'bulk');
    expect(await ok('get', 'secret', '-n', 'bulk', '-o', 'name')).toBe('secret/a\nsecret/c\n');
    await ok('delete', 'secret', '--all', '-n', 'bulk');
    expect(await ok('get', 'secret', '-n', 'bulk', '-o', 'name')).toBe('');
  });

  test('a pod without a node is deleted at once; one with a node waits for its kubelet', async () => {
    const pod = (name: string, more = '') => `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {${more}containers: [{name: a, image: "a:1"}]}\n`;
    await create(pod('loose'));
    await ok('delete', 'pod', 'loose', '--timeout=60s');
    await create('apiVersion: v1\nkind: Node\nmetadata: {name: host}\n');
    await create(pod('placed', 'nodeName: host, '));
    await ok('delete', 'pod', 'placed', '--wait=false');
    expect(await ok('get', 'pod', 'placed', '-o', 'jsonpath={.metadata.deletionGracePeriodSeconds}')).toBe('30');
    expect(await ok('get', 'pod', 'placed')).toContain('Terminating');
    await ok('delete', 'pod', 'placed', '--grace-period=0', '--force', '--timeout=60s');
    expect((await moor.kubectl('get', 'pod', 'placed')).code).toBe(1);
  });
});
