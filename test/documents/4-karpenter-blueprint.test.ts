/** The blueprint for stateful workloads, without its autoscaler and its cloud: nodes join and leave by script. */
import { expect, test } from 'vitest';
import { play } from '../simulation/scenarios.ts';

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'ebs-claim' },
  spec: { storageClassName: 'storage-gp3', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '4Gi' } } },
};
const workload = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'stateful' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'stateful' } },
    template: {
      metadata: { labels: { app: 'stateful' } },
      spec: {
        containers: [{ name: 'stateful', image: 'centos', volumeMounts: [{ name: 'persistent-storage', mountPath: '/data' }] }],
        volumes: [{ name: 'persistent-storage', persistentVolumeClaim: { claimName: 'ebs-claim' } }],
      },
    },
  },
};
const zones = ['eu-west-2a', 'eu-west-2b', 'eu-west-2c'];
const inOneZone = { name: 'storage-gp3', zones: ['eu-west-2b'] };

test('three pods share a claim of a class for one zone: the volume and all pods are in that zone', async () => {
  const { surprises } = await play(
    JSON.stringify({
      cluster: { zones, nodesPerZone: 1, storageClasses: [inOneZone] },
      objects: [claim],
      script: [{ at: '1m', apply: workload }],
      expect: [
        'by 10s event WaitForFirstConsumer on pvc/ebs-claim saying "waiting for first consumer to be created before binding"',
        'at 1m pvc/ebs-claim is Pending',
        'by 2m deployment/stateful has 3 ready',
        'at the end pvc/ebs-claim is attached to node-2',
        'at the end pvc/ebs-claim has 4Gi',
        'at the end there are 3 pods that are Running',
        'at the end disks.example.com holds 1 disk',
      ],
    }),
  );
  expect(surprises).toEqual([]);
});

test('a deleted pod is replaced by one that uses the same claim, in the zone of its volume', async () => {
  const one = { ...workload, kind: 'StatefulSet', spec: { ...workload.spec, replicas: 1, serviceName: 'stateful' } };
  // A simulated disk can be attached in its zone only: a pod that runs is there. Its own node is cordoned, so it is another node.
  for (const seed of [1, 2, 3]) {
    const { surprises } = await play(
      JSON.stringify({
        cluster: { zones, nodesPerZone: 2, storageClasses: [{ name: 'storage-gp3' }] },
        objects: [claim, one],
        script: ['at 1m cordon the node of pod/stateful-0', 'at 1m1s delete pod/stateful-0'],
        expect: [
          'at 1m statefulset/stateful has 1 ready',
          'by 3m statefulset/stateful has 1 ready',
          'at the end pod/stateful-0 is Running',
          'at the end disks.example.com holds 1 disk',
          'never after 1m pvc/ebs-claim is Lost',
          'never there are 2 persistentvolumes',
        ],
      }),
      { seed },
    );
    expect(surprises).toEqual([]);
  }
});

test('scaled to zero its node is removed; scaled out, a node that joins in the zone of the volume runs the pods, and no other does', async () => {
  const { surprises } = await play(
    JSON.stringify({
      cluster: { zones, nodesPerZone: 1, storageClasses: [inOneZone] },
      objects: [claim, workload],
      script: [
        'at 1m scale deployment/stateful to 0',
        'at 3m remove node-2',
        'at 4m scale deployment/stateful to 3',
        'at 6m node-4 joins in eu-west-2a',
        'at 8m node-5 joins in eu-west-2b',
      ],
      expect: [
        'by 1m deployment/stateful has 3 ready',
        'at 3m there are 0 pods',
        'at 3m pvc/ebs-claim is not attached',
        'at 3m pvc/ebs-claim is Bound',
        'at 8m deployment/stateful has 0 ready',
        'by 9m deployment/stateful has 3 ready',
        'at the end pvc/ebs-claim is attached to node-5',
        'at the end disks.example.com holds 1 disk',
      ],
    }),
  );
  expect(surprises).toEqual([]);
});
