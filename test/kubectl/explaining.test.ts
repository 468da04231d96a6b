import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';

let moor: MoorProcess;
beforeAll(async () => {
  moor = await startMoor();
});
afterAll(() => moor[Symbol.asyncDispose]());

async function explain(...args: string[]): Promise<string> {
  const result = await moor.kubectl('explain', ...args);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  return result.stdout;
}

describe('kubectl explain', () => {
  test('a kind', async () => {
    const explained = await explain('storageclass');
    expect(explained).toMatch(/GROUP:\s+storage\.k8s\.io\nKIND:\s+StorageClass\nVERSION:\s+v1\n\nDESCRIPTION:\n\s+A class of storage/);
    expect(explained).toMatch(/provisioner\t<string> -required-\n\s+The provisioner that creates and deletes the volumes\./);
  });

  test('a nested field with its enum values', async () => {
    const explained = await explain('pvc.spec.volumeMode');
    expect(explained).toMatch(/FIELD: volumeMode <string>\nENUM:\n\s+Block\n\s+Filesystem\n/);
    expect(explained).toContain('Whether the volume carries a file system');
  });

  test('a struct field has its own description and its fields', async () => {
    const explained = await explain('pv.spec.claimRef');
    expect(explained).toContain('The claim that the volume is bound to, or is reserved for.');
    expect(explained).toMatch(/resourceVersion\t<string>\n\s+The version of the object that is meant\./);
  });

  test('--recursive', async () => {
    const explained = await explain('statefulsets', '--recursive');
    expect(explained).toMatch(/volumeClaimTemplates\t<\[\]PersistentVolumeClaim>\n(.*\n)*\s+dataSourceRef\t<TypedObjectReference>/);
    expect(await explain('pv', '--output=plaintext-openapiv2')).toContain('The properties of the volume.');
  });

  test('a field that does not exist', async () => {
    expect(await moor.kubectl('explain', 'pvc.spec.size')).toMatchObject({ code: 1, stderr: 'error: field "size" does not exist\n' });
    expect(await moor.kubectl('explain', 'deployments', '--api-version=apps/v1beta1')).toMatchObject({ code: 1 });
  });
});
