/** What the walk through PersistentVolumes and claims states, where no other test shows it. */
import { expect, test } from 'vitest';
import { startMoor } from '../moor-process.ts';
import { play } from '../simulation/scenarios.ts';

const manual = { storageClassName: 'local-storage', accessModes: ['ReadWriteOnce'] };
const volume = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv1' },
  spec: { ...manual, capacity: { storage: '10Mi' }, hostPath: { path: '/tmp/pv1' } },
};
const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'pvc1' },
  spec: { ...manual, resources: { requests: { storage: '10Mi' } } },
};

test('kubectl get pv,pvc prints a bound pair as in the document', async () => {
  await using moor = await startMoor({ bare: false, args: ['--store', 'memory'] });
  const items = [volume, claim];
  expect(await moor.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'create', '-f', '-')).toMatchObject({ code: 0 });
  expect(await moor.kubectl('wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/pvc1', '--timeout=60s')).toMatchObject({ code: 0 });
  const { stdout } = await moor.kubectl('get', 'pv,pvc');
  // Since v1.29 both have a column for the attributes class.
  const words = stdout.split('\n').map((line) => line.split(/ {2,}/).join(' | '));
  expect(words[0]).toBe('NAME | CAPACITY | ACCESS MODES | RECLAIM POLICY | STATUS | CLAIM | STORAGECLASS | VOLUMEATTRIBUTESCLASS | REASON | AGE');
  expect(words[1]).toMatch(/^persistentvolume\/pv1 \| 10Mi \| RWO \| Retain \| Bound \| default\/pvc1 \| local-storage \| <unset> \| \d+\w+$/);
  expect(words[3]).toBe('NAME | STATUS | VOLUME | CAPACITY | ACCESS MODES | STORAGECLASS | VOLUMEATTRIBUTESCLASS | AGE');
  expect(words[4]).toMatch(/^persistentvolumeclaim\/pvc1 \| Bound \| pv1 \| 10Mi \| RWO \| local-storage \| <unset> \| \d+\w+$/);
});

test('a PV that is deleted while it is bound stays until its PVC is gone', async () => {
  const { surprises } = await play(
    JSON.stringify({
      objects: [volume, claim],
      script: ['at 10s delete pv/pv1', 'at 60s delete pvc/pvc1'],
      expect: [
        'at 5s pvc/pvc1 is Bound to pv/pv1',
        'at 50s pv/pv1 is Terminating',
        'at 50s pvc/pvc1 is Bound',
        'by 70s pvc/pvc1 is gone',
        'by 70s pv/pv1 is gone',
      ],
    }),
  );
  expect(surprises).toEqual([]);
});

test('a ReadOnlyMany volume is attached to many nodes', async () => {
  const many = { storageClassName: 'fast', accessModes: ['ReadOnlyMany'], resources: { requests: { storage: '1Gi' } } };
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data', readOnly: true } }];
  const reader = (name: string, node: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { nodeSelector: { 'kubernetes.io/hostname': node }, containers: [{ name: 'c', image: 'nginx' }], volumes },
  });
  const { surprises } = await play(
    JSON.stringify({
      cluster: { zones: ['zone-a'], nodes: 2, storageClasses: [{ name: 'fast', binding: 'Immediate' }] },
      objects: [{ ...claim, metadata: { name: 'data' }, spec: many }, reader('one', 'node-1'), reader('two', 'node-2')],
      expect: [
        'by 1m pod/one is Running on node-1',
        'by 1m pod/two is Running on node-2',
        'at 1m pvc/data is attached to node-1',
        'at 1m pvc/data is attached to node-2',
      ],
    }),
  );
  expect(surprises).toEqual([]);
});
