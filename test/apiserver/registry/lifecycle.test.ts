import { describe, expect, test } from 'vitest';
import { ApiUnderTest, onApi } from '../api-under-test.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { isDecoded } from '../../../src/apiserver/objects/object-revision.ts';
import { compactionTarget, defaultHistory, addSample } from '../../../src/apiserver/registry/compaction.ts';

const ns = '/api/v1/namespaces/default';
const pods = `${ns}/pods`;
const pod = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: [{ name: 'app', image: 'x' }], ...spec } });

describe('pods go in their own time', () => {
  test(
    'one without a node at once, one on a node after its grace, which can only be shortened',
    onApi(async (api) => {
      await api.create(pods, pod('free'));
      const gone = await api.send('DELETE', `${pods}/free`);
      expect(gone.body).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 0, deletionTimestamp: expect.any(String) } });
      expect((await api.send('GET', `${pods}/free`)).code).toBe(404);

      await api.create(pods, pod('a', { nodeName: 'n', terminationGracePeriodSeconds: 60 }));
      const now = api.world.clock.now();
      const first = (await api.send('DELETE', `${pods}/a`)).body.metadata;
      expect(first.deletionGracePeriodSeconds).toBe(60);
      expect(Date.parse(first.deletionTimestamp)).toBe(Math.floor((now + 60_000) / 1000) * 1000);
      expect(first.generation).toBe(2);
      expect((await api.send('DELETE', `${pods}/a`)).body.metadata.resourceVersion).toBe(first.resourceVersion);
      expect((await api.send('DELETE', `${pods}/a`, { query: 'gracePeriodSeconds=90' })).body.metadata.resourceVersion).toBe(first.resourceVersion);
      const shorter = (await api.send('DELETE', `${pods}/a`, { query: 'gracePeriodSeconds=10' })).body.metadata;
      expect(shorter).toMatchObject({ deletionGracePeriodSeconds: 10, generation: 2 });
      expect(Date.parse(first.deletionTimestamp) - Date.parse(shorter.deletionTimestamp)).toBe(50_000);
      await api.world.sleep(20_000);
      const late = (await api.send('DELETE', `${pods}/a`, { query: 'gracePeriodSeconds=5' })).body.metadata;
      expect(late.deletionGracePeriodSeconds).toBe(1);
      expect((await api.send('GET', `${pods}/a`)).code).toBe(200);
      await api.send('DELETE', `${pods}/a`, { query: 'gracePeriodSeconds=0' });
      expect((await api.send('GET', `${pods}/a`)).code).toBe(404);
    }),
  );

  test(
    'a finalizer keeps even one that is deleted by force',
    onApi(async (api) => {
      await api.create(pods, { ...pod('a', { nodeName: 'n' }), metadata: { name: 'a', finalizers: ['example.com/x'] } });
      const kept = await api.send('DELETE', `${pods}/a`, { query: 'gracePeriodSeconds=0' });
      expect(kept.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['example.com/x'] });
      await api.send('PATCH', `${pods}/a`, { body: { metadata: { finalizers: null } }, contentType: 'application/merge-patch+json' });
      expect((await api.send('GET', `${pods}/a`)).code).toBe(404);
    }),
  );

  test(
    'a dry run of a deletion shows what would be left',
    onApi(async (api) => {
      await api.create(pods, pod('a', { nodeName: 'n' }));
      const before = api.store.revision();
      expect((await api.send('DELETE', `${pods}/a`, { query: 'dryRun=All' })).body.metadata.deletionTimestamp).toBeDefined();
      expect(api.store.revision()).toBe(before);
    }),
  );
});

test(
  'the pods of a Job stay unless the client sets a policy, with a warning',
  onApi(async (api) => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    const job = { metadata: { name: 'j' }, spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'x' }] } } } };
    await api.create(jobs, job);
    const deleted = await api.send('DELETE', `${jobs}/j`);
    expect(deleted.body.metadata.finalizers).toEqual(['orphan']);
    expect(deleted.warnings).toEqual([
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    ]);
    expect((await api.send('DELETE', `${jobs}/j`, { query: 'orphanDependents=false' })).code).toBe(200);
  }),
);

test(
  'every request for a deprecated kind gets a warning',
  onApi(async (api) => {
    const all = '/api/v1/namespaces/default/endpoints';
    const warning = ['v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'];
    expect((await api.create(all, { metadata: { name: 'e' } })).warnings).toEqual(warning);
    expect((await api.send('GET', all)).warnings).toEqual(warning);
    expect((await api.send('GET', `${all}/e`)).warnings).toEqual(warning);
    expect((await api.send('DELETE', `${all}/e`)).warnings).toEqual(warning);
    expect((await api.send('GET', '/api/v1/namespaces/default/services')).warnings).toEqual([]);
  }),
);

describe('fencing', () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
  const lease = 'default/leader';
  const acquire = async (api: ApiUnderTest, holder: string) => {
    const found = await api.send('GET', `${leases}/leader`);
    const body = found.code === 404 ? { metadata: { name: 'leader' }, spec: { holderIdentity: holder } } : { ...found.body, spec: { holderIdentity: holder } };
    return Number((await api.send('PUT', `${leases}/leader`, { body })).body.metadata.resourceVersion);
  };
  const writeAs = (api: ApiUnderTest, epoch: number, name: string) =>
    api.send('POST', `${ns}/configmaps`, { body: { metadata: { name } }, fence: { lease, epoch } });

  test(
    'a leader writes under its epoch until another one takes over',
    onApi(async (api) => {
      const first = await acquire(api, 'one');
      expect((await writeAs(api, first, 'a')).code).toBe(201);
      // Renewing changes the lease, not the epoch.
      const renewed = await api.send('PATCH', `${leases}/leader`, {
        body: { spec: { renewTime: '2030-01-01T00:00:00.000000Z' } },
        contentType: 'application/merge-patch+json',
      });
      expect(Number(renewed.body.metadata.resourceVersion)).toBeGreaterThan(first);
      expect((await writeAs(api, first, 'b')).code).toBe(201);
      const second = await acquire(api, 'two');
      expect((await writeAs(api, first, 'c')).body).toMatchObject({
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on configmaps "c": the writer no longer leads: it acquired lease default/leader at epoch ${first}, but the lease is at epoch ${second}`,
        details: { causes: [{ reason: 'LeaderDeposed' }] },
      });
      expect((await writeAs(api, second, 'c')).code).toBe(201);
      for (const [method, options] of [
        ['PUT', { body: { metadata: { name: 'a' }, data: { x: 'y' } } }],
        ['PATCH', { body: { data: { x: 'y' } }, contentType: 'application/merge-patch+json' }],
        ['DELETE', {}],
      ] as const) {
        expect((await api.send(method, `${ns}/configmaps/a`, { ...options, fence: { lease, epoch: first } })).body.details.causes[0].reason).toBe(
          'LeaderDeposed',
        );
      }
    }),
  );

  test(
    'giving the lease back, or deleting it, ends the epoch',
    onApi(async (api) => {
      const first = await acquire(api, 'one');
      await acquire(api, '');
      expect((await writeAs(api, first, 'a')).code).toBe(409);
      const second = await acquire(api, 'one');
      await api.send('DELETE', `${leases}/leader`);
      expect((await writeAs(api, second, 'a')).body.message).toContain('the lease has no holder');
      expect((await writeAs(api, 999, 'a')).code).toBe(409);
    }),
  );

  test('under any order of events, nothing of a deposed leader is stored after its successor began', async () => {
    for (let seed = 0; seed < 20; seed++) {
      await simulate(seed, async (world) => {
        const api = new ApiUnderTest(world);
        await api.namespace('default');
        const first = await acquire(api, 'one');
        const old = Array.from({ length: 10 }, (_, i) => world.sleep(0).then(() => writeAs(api, first, `old-${i}`)));
        const [second, ...outcomes] = await Promise.all([world.sleep(0).then(() => acquire(api, 'two')), ...old]);
        for (const { code, body } of outcomes) expect(code === 409 || Number(body.metadata.resourceVersion) < second).toBe(true);
        await api.api.stop();
      });
    }
  });
});

describe('events', () => {
  test(
    'of both groups are two views of the same objects',
    onApi(async (api) => {
      const core = `${ns}/events`;
      const grouped = '/apis/events.k8s.io/v1/namespaces/default/events';
      const regarding = { kind: 'Pod', namespace: 'default', name: 'p', uid: 'u' };
      const made = await api.create(core, {
        metadata: { name: 'e' },
        involvedObject: regarding,
        reason: 'Because',
        message: 'it happened',
        type: 'Normal',
        source: { component: 'me', host: 'h' },
        firstTimestamp: '2030-01-01T00:00:00Z',
        lastTimestamp: '2030-01-01T00:00:05Z',
        count: 3,
      });
      expect(made.code).toBe(201);
      const seen = (await api.send('GET', `${grouped}/e`)).body;
      expect(seen).toMatchObject({
        kind: 'Event',
        apiVersion: 'events.k8s.io/v1',
        metadata: { resourceVersion: made.body.metadata.resourceVersion },
        regarding,
        note: 'it happened',
        deprecatedCount: 3,
        deprecatedSource: { component: 'me', host: 'h' },
      });
      expect((await api.send('GET', grouped)).body.items).toEqual([seen]);
      const watched = await api.watch(grouped, `resourceVersion=${api.store.revision()}`);
      const both = await api.watch(core, `resourceVersion=${api.store.revision()}`);
      await api.send('PATCH', `${core}/e`, { body: { count: 4 }, contentType: 'application/merge-patch+json' });
      expect(watched.seen[0]?.stored.object).toMatchObject({ apiVersion: 'events.k8s.io/v1', deprecatedCount: 4 });
      expect(both.seen[0]?.stored.object).toMatchObject({ apiVersion: 'v1', count: 4 });
      await api.send('DELETE', `${grouped}/e`);
      expect((await api.send('GET', `${core}/e`)).code).toBe(404);
      expect(watched.lines.at(-1)).toBe(`DELETED e@${api.store.revision()}`);
      const fresh = await api.create(grouped, {
        metadata: { name: 'f' },
        eventTime: '2030-01-01T00:00:00.000000Z',
        reportingController: 'example.com/c',
        reportingInstance: 'i',
        action: 'Did',
        reason: 'Because',
        type: 'Normal',
        regarding,
        note: 'n',
      });
      expect(fresh.body).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'n' });
      expect((await api.send('GET', `${core}/f`)).body).toMatchObject({ apiVersion: 'v1', message: 'n', involvedObject: regarding });
    }),
  );

  test(
    'expire an hour after they were written last',
    onApi(async (api) => {
      const make = (name: string) => api.create(`${ns}/events`, { metadata: { name }, involvedObject: { namespace: 'default' }, reason: 'r' });
      await make('old');
      await make('renewed');
      await api.world.sleep(40 * 60_000);
      await make('young');
      await api.send('PATCH', `${ns}/events/renewed`, { body: { count: 2 }, contentType: 'application/merge-patch+json' });
      await api.world.sleep(22 * 60_000);
      const names = async () => (await api.send('GET', `${ns}/events`)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
      expect(await names()).toEqual(['renewed', 'young']);
      // A server that starts anew knows how old they are.
      await api.api.stop();
      const restarted = new ApiUnderTest(api.world, api.store);
      await api.world.sleep(40 * 60_000);
      expect(await names()).toEqual([]);
      await restarted.api.stop();
    }),
  );

  test(
    'are kept as bytes alone, after their first minute and after a list that does not select them',
    onApi(async (api) => {
      const make = (name: string) => api.create(`${ns}/events`, { metadata: { name }, involvedObject: { namespace: 'default', kind: 'Pod' }, reason: 'r' });
      await make('a');
      const decoded = async () => isDecoded((await api.store.get('/registry/events/default/a'))!);
      expect(await decoded()).toBe(true);
      await api.world.sleep(61_000);
      expect(await decoded()).toBe(false);
      const list = async (kind: string) => (await api.send('GET', `${ns}/events`, { query: `fieldSelector=involvedObject.kind%3D${kind}` })).body.items.length;
      expect(await list('Node')).toBe(0);
      expect(await decoded()).toBe(false);
      expect(await list('Pod')).toBe(1);
      expect(await decoded()).toBe(true);
    }),
  );
});

describe('history', () => {
  const limits = defaultHistory;
  const state = { samples: [], now: 0, revision: 50_000, compacted: 10, stats: { historyRevisions: 49_990, historyBytes: 1 } };

  test('is kept for five minutes, within bounds, but never less than a little', () => {
    expect(compactionTarget(state, limits)).toBe(10);
    expect(
      compactionTarget(
        {
          ...state,
          now: 400_000,
          samples: [
            { at: 0, revision: 20 },
            { at: 90_000, revision: 30_000 },
            { at: 110_000, revision: 40_000 },
          ],
        },
        limits,
      ),
    ).toBe(30_000);
    expect(compactionTarget({ ...state, revision: 250_000 }, limits)).toBe(150_000);
    expect(compactionTarget({ ...state, stats: { historyRevisions: 40_000, historyBytes: 2 * limits.maxBytes } }, limits)).toBe(20_010);
    expect(compactionTarget({ ...state, stats: { historyRevisions: 40_000, historyBytes: 1000 * limits.maxBytes } }, limits)).toBe(39_970);
    expect(compactionTarget({ ...state, now: 1e9, samples: [{ at: 0, revision: 49_999 }] }, limits)).toBe(49_000);
    expect(compactionTarget({ ...state, revision: 500, now: 1e9, samples: [{ at: 0, revision: 499 }] }, limits)).toBe(10);
  });

  test('a store in which nothing happens is remembered once, with the time since when', () => {
    let samples = addSample([], { at: 0, revision: 7 });
    for (let at = 10; at < 1_000; at += 10) samples = addSample(samples, { at, revision: 7 });
    samples = addSample(samples, { at: 1_000, revision: 8 });
    expect(samples).toEqual([
      { at: 0, revision: 7 },
      { at: 1_000, revision: 8 },
    ]);
  });

  test(
    'is shortened while the server runs',
    onApi(async (api) => {
      for (let i = 0; i < 1_500; i++)
        await api.send('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l', {
          body: { metadata: { name: 'l', resourceVersion: i === 0 ? undefined : String(api.store.revision()) }, spec: { leaseTransitions: i } },
        });
      await api.world.sleep(100_000);
      expect(api.store.compactedRevision()).toBeLessThan(10);
      await api.world.sleep(300_000);
      expect(api.store.compactedRevision()).toBe(api.store.revision() - 1_000);
    }),
  );
});
