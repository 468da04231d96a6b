import { describe, expect, test } from 'vitest';
import { startMoor } from '../moor-process.ts';

const storage = [
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'directories' }, provisioner: 'kubernetes.io/host-path' },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    spec: { storageClassName: 'directories', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
]
  .map((object) => JSON.stringify(object))
  .join('\n');

describe.each([
  { args: [], shows: true },
  { args: ['--plain'], shows: false },
])('moor up $args', ({ args, shows }) => {
  test(`${shows ? 'shows' : 'hides'} group mooring.dev, and provisions all the same`, async () => {
    await using moor = await startMoor({ args: ['--store', 'memory', ...args] });
    const [groups, openApi, intents, one] = await Promise.all(
      ['/apis', '/openapi/v3', '/apis/mooring.dev/v1/volumeintents', '/apis/mooring.dev/v1/volumeintents/none'].map((path) =>
        moor.kubectl('get', '--raw', path),
      ),
    );
    expect(groups?.stdout.includes('mooring.dev')).toBe(shows);
    expect(openApi?.stdout.includes('mooring.dev')).toBe(shows);
    expect(intents).toMatchObject(
      shows ? { code: 0 } : { code: 1, stderr: 'Error from server (NotFound): the server could not find the requested resource\n' },
    );
    expect(one?.stderr).toContain(shows ? 'volumeintents.mooring.dev "none" not found' : 'could not find the requested resource');

    expect(await moor.kubectlWith(storage, 'create', '-f', '-')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/data', '--timeout=60s')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('delete', 'pvc/data')).toMatchObject({ code: 0 });
    expect(await moor.kubectl('wait', '--for=delete', 'pv', '--all', '--timeout=60s')).toMatchObject({ code: 0 });
  });
});
