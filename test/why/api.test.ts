import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';

const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '5Gi' } } },
});

describe('explanations as an API, by the real kubectl', () => {
  let moor: MoorProcess;
  beforeAll(async () => {
    moor = await startMoor({ bare: false, args: ['--store', 'memory'] });
    expect(await moor.kubectlWith(JSON.stringify(claim('data')), 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
    expect(await moor.kubectl('create', 'serviceaccount', 'jane')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('create', 'clusterrole', 'asker', '--verb=get,list', '--resource=explanations.mooring.dev')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('create', 'clusterrolebinding', 'asker', '--clusterrole=asker', '--serviceaccount=default:jane')).toMatchObject({ code: 0 });
  });
  afterAll(() => moor[Symbol.asyncDispose]());

  const jane = '--as=system:serviceaccount:default:jane';

  test('are discovered', async () => {
    const { stdout } = await moor.kubectl('api-resources', '--api-group=mooring.dev', '--no-headers');
    expect(stdout.split('\n').map((line) => line.split(/\s+/))).toContainEqual(['explanations', 'why', 'mooring.dev/v1', 'true', 'Explanation']);
  });

  test('all that is stuck, as a table and as objects', async () => {
    const { stdout } = await moor.kubectl('get', 'explanations', '-A');
    expect(stdout).toMatch(/^NAMESPACE +NAME +VERDICT +STATE +AGE +WHY\ndefault +pvc\.data +stuck +Pending +\d+s +There are no volumes at all\./);
    const list = JSON.parse((await moor.kubectl('get', 'explanations', '-A', '-o', 'json')).stdout) as { items: unknown[] };
    expect(list.items[0]).toMatchObject({ spec: { kind: 'pvc', namespace: 'default', name: 'data' }, status: { verdict: 'stuck', code: 'NoVolumeFits' } });
    expect((await moor.kubectl('get', 'explanations', '-n', 'kube-system', '--no-headers')).stdout).toBe('');
  });

  test('of one object, in the namespace of the object; of a node, in namespace default', async () => {
    const { stdout } = await moor.kubectl('get', 'why', 'pvc.data', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      apiVersion: 'mooring.dev/v1',
      kind: 'Explanation',
      metadata: { name: 'pvc.data', namespace: 'default' },
      status: {
        verdict: 'stuck',
        state: 'Pending',
        unseen: [],
        fixes: [{ text: 'create a volume of at least 5Gi with ReadWriteOnce without a StorageClass' }, {}],
      },
    });
    expect((await moor.kubectl('get', 'why', 'node.node-1', '-o', 'jsonpath={.status.code}')).stdout).toBe('Ready');
    expect((await moor.kubectl('get', 'why', 'node.node-1', '-n', 'kube-system')).stderr).toContain('(NotFound)');
    expect((await moor.kubectl('get', 'why', 'pvc.dat')).stderr).toContain('There is no pvc/dat in namespace default. Is pvc/data meant?');
    expect((await moor.kubectl('get', 'why', 'svc.data')).stderr).toContain('(NotFound)');
  });

  test('with the rights of the caller: nothing is told of what it may not read', async () => {
    const denied = await moor.kubectl('get', 'why', 'pvc.data', jane);
    expect(denied.stderr).toContain('cannot read persistentvolumeclaims in namespace default: persistentvolumeclaims is forbidden');
    expect((await moor.kubectl('get', 'why', 'pvc.data', '--as=system:serviceaccount:default:joe')).stderr).toContain('cannot get resource "explanations"');
    const hidden = JSON.parse((await moor.kubectl('get', '--raw', '/apis/mooring.dev/v1/explanations', jane)).stdout) as {
      items: unknown[];
      unseen: { what: string }[];
    };
    expect(hidden.items).toEqual([]);
    expect(hidden.unseen.map(({ what }) => what)).toContain('persistentvolumeclaims');
    await moor.kubectl('create', 'rolebinding', 'viewer', '--clusterrole=view', '--serviceaccount=default:jane');
    const seen = JSON.parse((await moor.kubectl('get', 'why', 'pvc.data', '-o', 'json', jane)).stdout) as { status: { unseen: { what: string }[] } };
    expect(seen).toMatchObject({ status: { code: 'NoVolumeFits' } });
    expect(seen.status.unseen.map(({ what }) => what)).toContain('persistentvolumes');
  });

  test('role view is enough to ask, in the namespaces where it is bound', async () => {
    const ann = '--as=system:serviceaccount:default:ann';
    await moor.kubectl('create', 'rolebinding', 'ann', '--clusterrole=view', '--serviceaccount=default:ann');
    expect((await moor.kubectl('get', 'why', 'pvc.data', '-o', 'jsonpath={.status.code}', ann)).stdout).toBe('NoVolumeFits');
    expect((await moor.kubectl('get', 'why', '-o', 'name', ann)).stdout).toBe('explanation.mooring.dev/pvc.data\n');
    expect((await moor.kubectl('get', 'why', '-n', 'kube-system', ann)).stderr).toContain('cannot list resource "explanations"');
  });

  test('what they cannot do is refused: selectors, watches, writes', async () => {
    expect((await moor.kubectl('get', 'why', '-l', 'app=x')).stderr).toContain('labelSelector is not supported for explanations');
    expect((await moor.kubectl('delete', 'why', 'pvc.data')).stderr).toContain('(MethodNotAllowed)');
    expect((await moor.kubectl('get', '--raw', '/apis/mooring.dev/v1/explanations?watch=1')).stderr).toContain('does not allow this method');
  });
});
