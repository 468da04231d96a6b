/** The figures of volumes in the kubelet API, in the formats of v1.36.4. */
import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/types.ts';
import type { Usage } from '../../world/mounts.ts';
import type { Runtime } from '../runtime.ts';
import { KubeletPages } from './pages.ts';
import { volumeMetrics } from './volume-metrics.ts';
import { nodeStats } from './volume-usages.ts';

const usage: Usage = { capacity: 1000, available: 600, used: 400, inodes: 50, inodesFree: 45 };
const now = Date.UTC(2026, 0, 31, 12, 0, 0, 987);

const pod = (name: string, claimName?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name, uid: `uid-${name}` },
  spec: {
    containers: [],
    volumes: [
      { name: 'data', ...(claimName === undefined ? { ephemeral: {} } : { persistentVolumeClaim: { claimName } }) },
      { name: 'scratch', emptyDir: {} },
      { name: 'etc', hostPath: { path: '/etc' } },
    ],
  },
  status: { startTime: '2026-01-31T11:00:00Z' },
});

function setUp(...pods: Pod[]) {
  let asked = 0;
  const measured = {
    pods: () => pods,
    usage: async () => {
      asked++;
      return new Map([
        ['data', usage],
        ['scratch', { ...usage, used: 7, inodesUsed: 3 }],
      ]);
    },
  };
  const clock = { now: () => now, monotonic: () => 0 };
  const stats = nodeStats(measured, clock);
  const runs = [
    { id: '1', name: 'app', attempt: 0, image: '', state: { type: 'running' as const, startedAt: now } },
    {
      id: '0',
      name: 'init',
      attempt: 0,
      image: '',
      state: { type: 'exited' as const, startedAt: 0, finishedAt: 1, exitCode: 0, reason: 'Completed' as const, message: '' },
    },
  ];
  const runtime: Pick<Runtime, 'pod'> = { pod: (uid) => ({ uid, namespace: '', name: '', sandbox: undefined, runs }) };
  const pages = new KubeletPages({ nodeName: 'node-1', pods: () => pods, stats, runtime, files: { usage: async () => usage }, root: '/node', clock });
  return { stats, page: async (path: string, query = '') => pages.page(path, new URLSearchParams(query)), asked: () => asked };
}

test('the summary has the volumes that can be measured, with the claims behind them', async () => {
  const { page } = setUp(pod('web', 'data'), pod('own'));
  const { body = '', contentType } = (await page('/stats/summary')) ?? {};
  expect(contentType).toBe('application/json');
  const fs = { time: '2026-01-31T12:00:00Z', availableBytes: 600, capacityBytes: 1000, usedBytes: 400, inodesFree: 45, inodes: 50, inodesUsed: 5 };
  const volumes = (claim: string) => [
    { ...fs, name: 'data', pvcRef: { name: claim, namespace: 'default' } },
    { ...fs, usedBytes: 7, inodesUsed: 3, name: 'scratch' },
  ];
  const containers = [{ name: 'app', startTime: '2026-01-31T12:00:00Z' }];
  const about = (name: string) => ({ podRef: { name, namespace: 'default', uid: `uid-${name}` }, startTime: '2026-01-31T11:00:00Z', containers });
  expect(JSON.parse(body)).toEqual({
    node: { nodeName: 'node-1', startTime: '2026-01-31T12:00:00Z', fs },
    pods: [
      { ...about('web'), volume: volumes('data') },
      { ...about('own'), volume: volumes('own-data') },
    ],
  });
});

test('volumes are measured only for a request that asks for them', async () => {
  const { page, asked } = setUp(pod('web', 'data'));
  expect(await page('/healthz')).toMatchObject({ body: 'ok' });
  expect(await page('/nothing')).toBeUndefined();
  expect(JSON.parse((await page('/stats/summary', 'only_cpu_and_memory=true'))?.body ?? '')).toMatchObject({
    pods: [expect.not.objectContaining({ volume: expect.anything() })],
  });
  expect(asked()).toBe(0);
});

test('the health of a volume is told if its driver tells it', async () => {
  const { stats } = setUp(pod('web', 'data'));
  const volumes = await stats.volumes();
  const of = (abnormal: boolean) => volumeMetrics(volumes.map((volume) => ({ ...volume, health: { abnormal, message: 'a disk is gone' } })));
  const sample = 'kubelet_volume_stats_health_status_abnormal{namespace="default",persistentvolumeclaim="data"}';
  expect(of(true)).toContain(`${sample} 1\n`);
  expect(of(false)).toContain(`${sample} 0\n`);
  expect(volumeMetrics(volumes)).not.toContain('health_status_abnormal');
});

test('metrics have each claim once, and no other volume', async () => {
  const { page, stats } = setUp(pod('web', 'data'), pod('other', 'data'));
  const { body = '' } = (await page('/metrics')) ?? {};
  const labels = '{namespace="default",persistentvolumeclaim="data"}';
  expect(body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    `kubelet_volume_stats_capacity_bytes${labels} 1000`,
    `kubelet_volume_stats_available_bytes${labels} 600`,
    `kubelet_volume_stats_used_bytes${labels} 400`,
    `kubelet_volume_stats_inodes${labels} 50`,
    `kubelet_volume_stats_inodes_free${labels} 45`,
    `kubelet_volume_stats_inodes_used${labels} 5`,
  ]);
  expect(body).toContain(
    '# HELP kubelet_volume_stats_capacity_bytes [ALPHA] Capacity in bytes of the volume\n# TYPE kubelet_volume_stats_capacity_bytes gauge\n',
  );
  expect(volumeMetrics((await stats.volumes()).filter(({ claim }) => claim === undefined))).toBe('');
});
