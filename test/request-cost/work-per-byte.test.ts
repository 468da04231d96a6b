/**
 * No single request stops the server: the work for a request grows with its bytes and not faster, wherever a client puts what is long, deep or many, and
 * its answer stays short.
 */
import { beforeAll, expect, test } from 'vitest';
import { loadExpressions } from '../../src/api/admission/expressions.ts';
import { loadCel } from '../../src/api/cel/environment.ts';
import { simulate } from '../../src/sim/world/world.ts';
import { ApiUnderTest } from '../apiserver/api-under-test.ts';
import { type Growing, longestAnswer, WorkMeter } from './growth.ts';
import { payloadsFor, type Position, schemaPositions } from './hostile-objects.ts';
import { hostileRequests } from './hostile-requests.ts';

beforeAll(async () => {
  await loadCel();
  await loadExpressions();
});

const measured = (work: (meter: WorkMeter) => Promise<void>): Promise<void> =>
  simulate(1, async (world) => {
    const api = new ApiUnderTest(world);
    await api.namespace('default');
    await api.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' }, data: { a: 'x'.repeat(100) } });
    const meter = new WorkMeter(api);
    await meter.calibrate();
    await work(meter);
    await api.api.stop();
  });

async function problemsOf(meter: WorkMeter, requests: readonly Growing[]): Promise<string[]> {
  const problems: string[] = [];
  for (const request of requests) {
    const problem = await meter.problemOf(request);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

/** A part of the schema that differs from run to run would find more, and could not be repeated: the seed does that. */
const seed = Number(process.env['WORK_SEED'] ?? 1);
const positionsPerRun = Number(process.env['WORK_POSITIONS'] ?? 100);

let state = seed;
const random = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;

const sampled = <T>(items: readonly T[], count: number): readonly T[] =>
  items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);

const pathOf = ({ kind: { group, version, plural, namespaced } }: Position): string =>
  `${group === '' ? '/api' : `/apis/${group}`}/${version}/${namespaced ? 'namespaces/default/' : ''}${plural}`;

const growingAt = (position: Position): Growing[] =>
  sampled(payloadsFor(position.type), 1).map(({ name, bytes: size, json }) => ({
    name: `${position.kind.kind}: ${position.field}: ${name}`,
    of: (bytes) => ({
      method: 'POST',
      path: pathOf(position),
      type: 'application/json',
      query: 'dryRun=All&fieldValidation=Strict',
      body: position.objectWith(json(bytes)),
    }),
    from: size,
    to: size,
  }));

test('long, deep and many values at every kind of position', { timeout: 300_000 }, () =>
  measured(async (meter) => {
    const requests = sampled(schemaPositions(), positionsPerRun).flatMap(growingAt);
    expect(await problemsOf(meter, requests)).toEqual([]);
  }),
);

test('patches, applies, selectors, definitions and other content types', { timeout: 300_000 }, () =>
  measured(async (meter) => {
    const requests = hostileRequests.map(
      ({ name, method, path, type, query = () => '', body }): Growing => ({
        name: `${method} ${type}: ${name}`,
        of: (n) => ({ method, path, type, query: query(n), body: body(n) }),
        from: 1_000,
        to: 16_000,
      }),
    );
    expect(await problemsOf(meter, requests)).toEqual([]);
  }),
);

const digits = '9'.repeat(2_900_000);

test.each([
  ['generation', 'POST', '', `{"metadata":{"name":"x","generation":${digits}}}`],
  ['deletionGracePeriodSeconds', 'POST', '', `{"metadata":{"name":"x","deletionGracePeriodSeconds":${digits}}}`],
  ['gracePeriodSeconds', 'DELETE', '/c', `{"gracePeriodSeconds":${digits}}`],
] as const)('a number of three million digits as %s', (_field, method, name, body) =>
  measured(async (meter) => {
    const sent = { method, path: `/api/v1/namespaces/default/configmaps${name}`, type: 'application/json', query: '', body };
    // A fifth of it is needed; making a number of the digits takes three times as much.
    expect(await meter.median(() => sent)).toBeLessThan(meter.ordinary(3_000));
    expect((await meter.measure(sent)).answer).toBeLessThan(longestAnswer);
  }),
);
