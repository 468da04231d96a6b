import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResourceQuota } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { compareQuantities } from '../../../api/quantity.ts';
import { usedOf } from '../../../api/quota/meter.ts';
import { parseUsage } from '../../../api/quota/usage.ts';
import { decideUsage, agreementTimeoutMs, type QuotaSnapshot } from './decide.ts';

type Amounts = Readonly<Record<string, string>>;

const hard = { persistentvolumeclaims: '10', 'requests.storage': '10Gi' };
const quota = (used: Amounts | undefined, status: Amounts | undefined = hard, spec: Amounts = hard): Stored<ResourceQuota> => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace: 'default', uid: 'u', resourceVersion: '7' },
  spec: { hard: spec },
  status: { ...(status === undefined ? {} : { hard: status }), ...(used === undefined ? {} : { used }) },
});
const seen = (of: Stored<ResourceQuota>, measured: Amounts, more: Partial<QuotaSnapshot> = {}): QuotaSnapshot => ({
  quota: of,
  measured: parseUsage(measured),
  current: new Set(),
  disagreeingSince: undefined,
  nextEnd: undefined,
  ...more,
});
const both = (claims: string, storage: string) => ({ persistentvolumeclaims: claims, 'requests.storage': storage });
const now = 1_000_000;
const everything = new Set(Object.keys(hard));

const types = (snapshot: QuotaSnapshot, at = now) => decideUsage(snapshot, at).actions.map(({ do: verb }) => verb);
/** The status that would be written. */
const written = (snapshot: QuotaSnapshot, at = now) => {
  const last = decideUsage(snapshot, at).actions.at(-1);
  return last?.do === 'updateStatus' ? last.object.status : undefined;
};

describe('status.used is written', () => {
  test('at once for a new quota, after a list from the server: the caches may not show everything yet', () => {
    const fresh = seen(quota(undefined, undefined), both('2', '3Gi'));
    expect(types(fresh)).toEqual(['confirmUsage', 'updateStatus']);
    expect(written(fresh)).toEqual({ hard, used: both('2', '3Gi') });
    expect(types({ ...fresh, current: everything })).toEqual(['updateStatus']);
  });

  test('with zeros', () => {
    expect(written(seen(quota(undefined, undefined), both('0', '0')))).toEqual({ hard, used: both('0', '0') });
  });

  test('when the limits change; resources without limit are removed', () => {
    const narrowed = seen(quota(both('2', '3Gi'), hard, { persistentvolumeclaims: '5' }), { persistentvolumeclaims: '2' });
    expect(types(narrowed)).toEqual(['updateStatus']);
    expect(written(narrowed)).toEqual({ hard: { persistentvolumeclaims: '5' }, used: { persistentvolumeclaims: '2' } });
    expect(written(seen(quota(both('2', '3Gi'), hard, {}), {}))).toEqual({});
  });

  test('at once when less is used and the caches are past its last charge', () => {
    const less = seen(quota(both('2', '3Gi')), both('1', '1Gi'), { current: everything });
    expect(types(less)).toEqual(['updateStatus']);
    expect(written(less)).toEqual({ hard, used: both('1', '1Gi') });
  });

  test('at first only for resources whose caches are past the last charge', () => {
    const partly = seen(quota(both('2', '3Gi')), both('1', '1Gi'), { current: new Set(['requests.storage']) });
    expect(types(partly)).toEqual(['updateStatus']);
    expect(written(partly)).toEqual({ hard, used: both('2', '1Gi') });
    expect(decideUsage(partly, now)).toMatchObject({ disagreeingSince: now, again: now + agreementTimeoutMs });
  });

  test('later, after a list from the server, when less is used and the caches may lag', () => {
    const doubtful = seen(quota(both('2', '3Gi')), both('1', '1Gi'));
    expect(decideUsage(doubtful, now)).toMatchObject({ actions: [], disagreeingSince: now, again: now + agreementTimeoutMs });
    const since = { ...doubtful, disagreeingSince: now - agreementTimeoutMs + 1 };
    expect(decideUsage(since, now)).toMatchObject({ actions: [], disagreeingSince: since.disagreeingSince, again: now + 1 });
    expect(types(since, now + 1)).toEqual(['confirmUsage', 'updateStatus']);
    expect(decideUsage(since, now + 1)).not.toHaveProperty('disagreeingSince');
  });

  test('later when more is used: most likely its own charge is on the way', () => {
    const more = seen(quota(both('1', '1Gi')), both('2', '3Gi'), { current: everything });
    expect(types(more)).toEqual([]);
    expect(types({ ...more, disagreeingSince: now - agreementTimeoutMs })).toEqual(['updateStatus']);
  });

  test('never for an equal amount in another notation', () => {
    expect(types(seen(quota(both('1', '1024Mi')), both('1', '1Gi'), { disagreeingSince: 0 }))).toEqual([]);
    expect(types(seen(quota(both('1', '1Gi'), { persistentvolumeclaims: '10', 'requests.storage': '10240Mi' }), both('1', '1Gi')))).toEqual([]);
  });

  test('again when an object stops counting by itself', () => {
    expect(decideUsage(seen(quota(both('1', '1Gi')), both('1', '1Gi'), { nextEnd: now + 50 }), now)).toMatchObject({ actions: [], again: now + 51 });
    expect(decideUsage(seen(quota(both('2', '1Gi')), both('1', '1Gi'), { nextEnd: now + 50 }), now)).toMatchObject({ again: now + 51 });
  });

  test('with reasons', () => {
    const { reasons } = decideUsage(seen(quota(both('2', '3Gi')), both('1', '3Gi')), now);
    expect(reasons).toEqual([{ code: 'CachesMayLag', text: 'persistentvolumeclaims: the quota says 2, the caches 1' }]);
  });
});

describe('for any snapshot', () => {
  const names = ['persistentvolumeclaims', 'requests.storage', 'example.com/unknown', 'replicationcontrollers'];
  const amounts = fc.dictionary(fc.constantFrom(...names), fc.constantFrom('0', '1', '2', '3Gi', '1024', '1Ki'), { noNullPrototype: true });
  const snapshots: fc.Arbitrary<QuotaSnapshot> = fc
    .record({ spec: amounts, status: amounts, used: amounts, measured: amounts, current: fc.uniqueArray(fc.constantFrom(...names)), waited: fc.nat(400) })
    .map(({ spec, status, used, measured, current, waited }) =>
      seen(quota(used, status, spec), Object.fromEntries(Object.entries(measured).filter(([name]) => names.indexOf(name) < 2 && name in spec)), {
        current: new Set(current),
        disagreeingSince: waited === 0 ? undefined : now - waited,
      }),
    );
  /** As it is after the write. */
  const after = (snapshot: QuotaSnapshot): QuotaSnapshot => {
    const last = decideUsage(snapshot, now).actions.at(-1);
    return last?.do === 'updateStatus' ? { ...snapshot, quota: last.object } : snapshot;
  };

  test('it settles: after the timeout, deciding again gives nothing', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const settled = after({ ...snapshot, disagreeingSince: now - agreementTimeoutMs });
        const again = decideUsage({ ...settled, disagreeingSince: now - agreementTimeoutMs }, now);
        expect(again).toMatchObject({ actions: [] });
        expect(again).not.toHaveProperty('disagreeingSince');
        for (const [name, amount] of usedOf(settled.quota, settled.measured)) {
          expect(compareQuantities(parseUsage(settled.quota.status.used).get(name) ?? '-1', amount)).toBe(0);
        }
      }),
    );
  });

  test('a crash after any prefix changes nothing about the end', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { actions } = decideUsage(snapshot, now);
        // The list changes nothing: after any prefix but the whole, the same is decided again.
        expect(actions.slice(0, -1).every(({ do: verb }) => verb === 'confirmUsage')).toBe(true);
        const patient = { ...after(snapshot), disagreeingSince: now - agreementTimeoutMs };
        const straight = { ...snapshot, disagreeingSince: now - agreementTimeoutMs };
        expect(after(patient).quota.status).toEqual(after(straight).quota.status);
      }),
    );
  });

  test('equal snapshots give equal decisions', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        expect(decideUsage(snapshot, now)).toEqual(decideUsage(snapshot, now));
      }),
    );
  });

  test('a lower number is written only if the caches are past the last charge or the server was listed', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const said = parseUsage(snapshot.quota.status.used);
        const { actions } = decideUsage(snapshot, now);
        const [first, last] = [actions[0], actions.at(-1)];
        if (last?.do !== 'updateStatus') return;
        for (const [name, amount] of parseUsage(last.object.status.used)) {
          const before = said.get(name);
          const gives = before === undefined || compareQuantities(amount, before) < 0;
          if (gives && !snapshot.current.has(name)) expect(first?.do === 'confirmUsage' && first.used.has(name)).toBe(true);
        }
      }),
    );
  });
});
