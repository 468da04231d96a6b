/** What a server tells of its etcd: at /metrics, and at /readyz. */
import { expect, test } from 'vitest';
import { Metrics } from '../../../src/apiserver/metrics/metrics.ts';
import { countEtcd } from '../../../src/cluster/apiserver/etcd-metrics.ts';
import { SimulatedEtcd } from '../../../src/sim/etcd/simulated-etcd.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { expectCode, write } from '../../../src/store/conformance/expectations.ts';
import type { EtcdStore } from '../../../src/store/etcd/etcd-store.ts';
import { networkWith, openSimulatedStore } from './simulated-store.ts';

/** One sample: 'etcd_request_errors_total{operation="txn",code="Unavailable"}'. */
function metricsOf(store: EtcdStore): (sample: string) => number {
  const metrics = new Metrics();
  countEtcd(metrics, store);
  return (sample) => {
    const line = metrics
      .text()
      .split('\n')
      .find((each) => each.startsWith(`${sample} `));
    return Number(line?.slice(sample.length + 1) ?? 0);
  };
}

test('calls to etcd are counted, with the time that they took', () =>
  simulate(1, async (world) => {
    const etcd = new SimulatedEtcd(world);
    const store = await openSimulatedStore(world, etcd, { network: networkWith(world, {}) });
    const value = metricsOf(store);
    await write(store, { '/a': '1' });
    await store.get('/a');
    expect(value('etcd_request_duration_seconds_count{operation="txn"}')).toBe(1);
    expect(value('etcd_request_duration_seconds_sum{operation="txn"}')).toBeGreaterThan(0);
    expect(value('etcd_request_duration_seconds_count{operation="range"}')).toBeGreaterThan(0);
    expect(value('mooring_etcd_mirror_wait_seconds_count{of="write"}')).toBe(1);
    expect(value('mooring_etcd_watches_total')).toBe(1);
    expect(value('mooring_etcd_available')).toBe(1);
    expect(value('mooring_etcd_mirror_lag_revisions')).toBe(0);
  }));

test('a lost quorum: the store says so while a write waits, and until etcd answers again', () =>
  simulate(2, async (world) => {
    const etcd = new SimulatedEtcd(world);
    const store = await openSimulatedStore(world, etcd);
    const value = metricsOf(store);
    await world.sleep(1_000);
    etcd.hasQuorum = false;
    const refused = expectCode(write(store, { '/a': '1' }), 'undecided');
    await world.sleep(2_500);
    expect(store.writeProblem()).toBeUndefined();
    await world.sleep(1_000);
    expect(store.writeProblem()).toBe('etcd has not answered for 3 s');
    expect(value('mooring_etcd_available')).toBe(0);
    await refused;
    expect(store.writeProblem()).toContain('Most members of the etcd cluster have to run');
    expect(value('etcd_request_errors_total{operation="txn",code="Unavailable"}')).toBe(1);
    expect(value('mooring_etcd_undecided_total')).toBe(1);
    etcd.regainQuorum();
    await write(store, { '/b': '1' });
    expect(store.writeProblem()).toBeUndefined();
    expect(value('mooring_etcd_available')).toBe(1);
  }));

test('a watch that is interrupted, events that are lost, and reads that go to etcd meanwhile', () =>
  simulate(3, async (world) => {
    const etcd = new SimulatedEtcd(world);
    const store = await openSimulatedStore(world, etcd);
    const value = metricsOf(store);
    await store.get('/a');
    expect(value('mooring_etcd_direct_reads_total')).toBe(1);
    await world.sleep(1_000);
    expect(value('mooring_etcd_watches_total')).toBe(1);
    for (const member of etcd.members) member.cutConnections();
    await world.sleep(1_000);
    expect(value('mooring_etcd_watches_total')).toBe(2);
    etcd.bugs = { lostEvents: 1 };
    void write(store, { '/a': '1' }).catch(() => undefined);
    await world.sleep(100);
    expect(value('mooring_etcd_mirror_lag_revisions')).toBe(1);
    etcd.bugs = {};
    await write(store, { '/a': '2' });
    await world.sleep(1_000);
    expect(value('mooring_etcd_reloads_total')).toBe(1);
    expect(value('mooring_etcd_mirror_lag_revisions')).toBe(0);
  }));

test('both servers know the compactions, of which each is by one of them', () =>
  simulate(4, async (world) => {
    const etcd = new SimulatedEtcd(world);
    const options = { compactionIntervalMs: 10_000 };
    const stores = [await openSimulatedStore(world, etcd, options), await openSimulatedStore(world, etcd, options)] as const;
    const values = stores.map(metricsOf);
    await world.sleep(65_000);
    const own = values.map((value) => value('mooring_etcd_compactions_total{by="this-server"}'));
    const others = values.map((value) => value('mooring_etcd_compactions_total{by="another"}'));
    expect((own[0] ?? 0) + (own[1] ?? 0)).toBeGreaterThan(2);
    expect((others[0] ?? 0) + (others[1] ?? 0)).toBeGreaterThan(2);
    for (const value of values) expect(value('mooring_etcd_compacted_revision')).toBe(etcd.state.compacted);
  }));
