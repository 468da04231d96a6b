/** What the investigation states about the scheduler, where no other test shows it. */
import { expect, test } from 'vitest';
import { lines, play } from '../simulation/scenarios.ts';

const container = { name: 'c', image: 'pause' };
const pod = (name: string, claim?: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [container], volumes: claim === undefined ? [] : [{ name: 'data', persistentVolumeClaim: { claimName: claim } }] },
});
const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data' },
  spec: { storageClassName: 'slow', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

test('a pod is bound to its node only once its claim is provisioned; the next pod is scheduled meanwhile', async () => {
  const report = await play(
    JSON.stringify({
      cluster: { zones: ['zone-a'], nodes: 1, drivers: [{ name: 'disks.example.com', create: '60s' }], storageClasses: [{ name: 'slow' }] },
      objects: [claim, pod('first', 'data')],
      script: [{ at: '10s', apply: pod('second') }],
      expect: [
        'at 30s pvc/data is Pending',
        'at 30s pod/first field .spec.nodeName is not node-1',
        'at 30s pod/second is Running',
        'by 90s pvc/data is Bound',
        'by 90s pod/first is Running on node-1',
      ],
    }),
  );
  expect(report.surprises).toEqual([]);
  const order = ['pvc/data has selected-node node-1', 'pod/second is assigned to node-1', 'pod/first is assigned to node-1'];
  expect(lines(report).flatMap((line) => order.filter((each) => line === `scheduler ${each}`))).toEqual(order);
});
