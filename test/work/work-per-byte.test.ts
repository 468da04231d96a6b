/**
 * No single request stops the server: the work for a request grows with its bytes and not faster, wherever a client puts what is long, deep or many, and
 * its answer stays short. Work is the processor time of the process, so that a busy machine does not count; a request that seems slow is measured again.
 */
import { beforeAll, expect, test } from 'vitest';
import { loadExpressions } from '../../src/api/admission/expressions.ts';
import { loadCel } from '../../src/api/cel/environment.ts';
import { ApiError } from '../../src/api/status.ts';
import { type SimulatedWorld, simulate } from '../../src/sim/world/world.ts';
import { ApiUnderTest } from '../apiserver/api-under-test.ts';
import { payloadsFor, type Position, schemaPositions } from './hostile-objects.ts';
import { type HostileRequest, hostileRequests } from './hostile-requests.ts';

/** Far more than an object that is stored needs; far less than a square, or a number of a million digits. */
const freeMs = 60;
const msPerKilobyte = 4;
/** Four times the bytes may cost this much more. */
const steepest = 10;
/** Characters of an answer that says what is wrong. */
const longestAnswer = 512 * 1024;

beforeAll(async () => {
  await loadCel();
  await loadExpressions();
});

interface Measured {
  readonly ms: number;
  readonly answer: number;
}

type Sent = Pick<HostileRequest, 'method' | 'path' | 'type'> & { readonly query: string; readonly body: string };

async function measure(api: ApiUnderTest, { method, path, type, query, body }: Sent): Promise<Measured> {
  const bytes = body === '' ? undefined : { type, text: body };
  const before = process.cpuUsage();
  let answer = 0;
  try {
    await api.handle(method, path, { query, ...(bytes === undefined ? {} : { bytes }) });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    answer = JSON.stringify(error.toStatus()).length;
  }
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, answer };
}

/** The least of several measurements, if the first one is too much: collecting garbage and compiling count as well. */
async function leastOf(api: ApiUnderTest, sent: Sent, enough: number): Promise<Measured> {
  let least = await measure(api, sent);
  for (let attempt = 0; attempt < 4 && least.ms > enough; attempt++) {
    const again = await measure(api, sent);
    if (again.ms < least.ms) least = again;
  }
  return least;
}

/** What is wrong with the work for a request; undefined: nothing. */
async function problemOf(api: ApiUnderTest, name: string, requestOf: (n: number) => Sent, n: number): Promise<string | undefined> {
  const large = requestOf(n);
  const kilobytes = (large.body.length + large.query.length) / 1000;
  const budget = freeMs + kilobytes * msPerKilobyte;
  const whole = await leastOf(api, large, budget);
  if (whole.answer > longestAnswer) return `${name}: an answer of ${whole.answer} characters`;
  if (whole.ms <= budget) return undefined;
  const quarter = await leastOf(api, requestOf(n / 4), 0);
  const isSteep = whole.ms > Math.max(quarter.ms, freeMs / 4) * steepest;
  const isSlow = whole.ms > budget * 5;
  return isSteep || isSlow ? `${name}: ${whole.ms} ms for ${kilobytes} kB, ${quarter.ms} ms for a quarter of it` : undefined;
}

async function started(world: SimulatedWorld): Promise<ApiUnderTest> {
  const api = new ApiUnderTest(world);
  await api.namespace('default');
  await api.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' }, data: { a: 'x'.repeat(100) } });
  return api;
}

/** A part of the schema that differs from run to run would find more, and could not be repeated: the seed does that. */
const seed = Number(process.env['WORK_SEED'] ?? 1);
const positionsPerRun = Number(process.env['WORK_POSITIONS'] ?? 160);
const size = 64 * 1024;

function sampled<T>(items: readonly T[], count: number): readonly T[] {
  let state = seed;
  const next = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  return items
    .map((item) => ({ item, order: next() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
}

const pathOf = ({ kind: { group, version, plural, namespaced } }: Position): string =>
  `${group === '' ? '/api' : `/apis/${group}`}/${version}/${namespaced ? 'namespaces/default/' : ''}${plural}`;

test('long, deep and many values at every kind of position', { timeout: 300_000 }, () =>
  simulate(1, async (world) => {
    const api = await started(world);
    const problems: string[] = [];
    for (const position of sampled(schemaPositions(), positionsPerRun)) {
      for (const { name, json } of sampled(payloadsFor(position.type), 3)) {
        const requestOf = (bytes: number): Sent => ({
          method: 'POST',
          path: pathOf(position),
          type: 'application/json',
          query: 'dryRun=All&fieldValidation=Strict',
          body: position.objectWith(json(bytes)),
        });
        problems.push(...[(await problemOf(api, `${position.kind.kind}: ${position.field}: ${name}`, requestOf, size)) ?? []].flat());
      }
    }
    expect(problems).toEqual([]);
    await api.api.stop();
  }),
);

test('patches, applies, selectors, definitions and other content types', { timeout: 300_000 }, () =>
  simulate(1, async (world) => {
    const api = await started(world);
    const problems: string[] = [];
    for (const { name, method, path, type, query = () => '', body } of hostileRequests) {
      const requestOf = (n: number): Sent => ({ method, path, type, query: query(n), body: body(n) });
      problems.push(...[(await problemOf(api, `${method} ${type}: ${name}`, requestOf, 4_000)) ?? []].flat());
    }
    expect(problems).toEqual([]);
    await api.api.stop();
  }),
);

test.each(['generation', 'deletionGracePeriodSeconds'])('a number of three million digits as %s', (field) =>
  simulate(1, async (world) => {
    const api = await started(world);
    const body = `{"metadata":{"name":"x","${field}":${'9'.repeat(3_000_000)}}}`;
    const sent: Sent = { method: 'POST', path: '/api/v1/namespaces/default/configmaps', type: 'application/json', query: '', body };
    const { ms, answer } = await leastOf(api, sent, 400);
    expect(ms).toBeLessThan(1_000);
    expect(answer).toBeLessThan(longestAnswer);
    await api.api.stop();
  }),
);
