import { afterEach, describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../src/apiserver/api.ts';
import { parseRequestInfo } from '../../src/api/request-info.ts';
import { auditedApi } from '../../src/apiserver/audit/audited-api.ts';
import { Auditor } from '../../src/apiserver/audit/auditor.ts';
import { readAuditPolicy } from '../../src/apiserver/audit/read-policy.ts';
import type { AuditLevel } from '../../src/apiserver/audit/policy.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { allowAuthenticated } from '../../src/sim/cluster/access.ts';
import type { World } from '../../src/world/world.ts';
import { json, send, sendHttp2, until } from './client.ts';
import { SmallApi } from './small-api.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

interface AuditEvent {
  readonly level: AuditLevel;
  readonly auditID: string;
  readonly stage: string;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: { readonly username?: string };
  readonly [field: string]: unknown;
}

/** The log in memory, and the server whose requests are in it. */
class Audited {
  readonly #lines: string[] = [];
  readonly #policy: string;
  wire!: WireServer;

  constructor(rules: string) {
    this.#policy = `apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n${rules}\n`;
  }

  readonly auditor = (world: World): Auditor =>
    new Auditor({
      policy: readAuditPolicy({ name: 'policy', bytes: Buffer.from(this.#policy) }).value,
      destination: { write: async (lines) => void this.#lines.push(...Buffer.from(lines).toString().trimEnd().split('\n')), close: async () => undefined },
      world,
      counters: { events: { add: () => undefined }, errors: { add: () => undefined } },
    });

  get text(): string {
    return this.#lines.join('\n');
  }

  /** Once there are so many. */
  async events(count: number): Promise<AuditEvent[]> {
    await until(`${count} audit events`, () => this.#lines.length >= count);
    return this.#lines.map((line) => JSON.parse(line) as AuditEvent);
  }
}

const open: WireServer[] = [];
afterEach(async () => {
  for (const wire of open.splice(0)) await wire.server.stop();
});

async function audited(rules: string): Promise<Audited> {
  const log = new Audited(rules);
  log.wire = await startWireServer({ auditor: log.auditor });
  open.push(log.wire);
  return log;
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string): string =>
  JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, managedFields: [{ manager: 'm' }] }, data: { secret: 'xyzzy' } }, undefined, 2);

describe('the audit log of requests', () => {
  it('has who, what, when, whence and what came of it, for both stages, in the order of Kubernetes (v1.36.4)', async () => {
    const log = await audited('- level: Metadata');
    const reply = await send(log.wire, `${configMaps}?fieldManager=me`, {
      method: 'POST',
      body: configMap('a'),
      headers: { 'user-agent': 'me/1', 'x-forwarded-for': '10.0.0.7, junk', 'content-type': 'application/json' },
    });
    const [received, complete] = await log.events(2);
    expect(received).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: reply.headers['audit-id'],
      stage: 'RequestReceived',
      requestURI: `${configMaps}?fieldManager=me`,
      verb: 'create',
      user: {
        username: 'kubernetes-admin',
        groups: ['system:masters', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=/)] },
      },
      sourceIPs: ['10.0.0.7', '127.0.0.1'],
      userAgent: 'me/1',
      objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
      requestReceivedTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      stageTimestamp: received?.['requestReceivedTimestamp'],
    });
    expect(complete).toEqual({
      ...received,
      stage: 'ResponseComplete',
      objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      stageTimestamp: expect.any(String),
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
    });
    expect(log.text).not.toContain('xyzzy');
    expect(Object.keys(complete ?? {})).toEqual(
      'kind apiVersion level auditID stage requestURI verb user sourceIPs userAgent objectRef responseStatus requestReceivedTimestamp stageTimestamp annotations'.split(
        ' ',
      ),
    );
  });

  it.each([
    ['Request', true, false],
    ['RequestResponse', true, true],
  ])('at level %s it has the request: %s, the answer: %s, each on one line', async (level, request, response) => {
    const log = await audited(`- level: ${level}`);
    await send(log.wire, configMaps, { method: 'POST', body: configMap('a'), headers: { 'content-type': 'application/json' } });
    const [, complete] = await log.events(2);
    expect(complete?.['requestObject']).toEqual(request ? JSON.parse(configMap('a')) : undefined);
    expect(complete?.['responseObject']).toEqual(response ? expect.objectContaining({ kind: 'ConfigMap', data: { secret: 'xyzzy' } }) : undefined);
  });

  it('leaves out managedFields if told to, of objects and of lists', async () => {
    const log = await audited('- {level: RequestResponse, omitManagedFields: true, omitStages: [RequestReceived]}');
    await send(log.wire, configMaps, { method: 'POST', body: configMap('a'), headers: { 'content-type': 'application/json' } });
    await send(log.wire, configMaps);
    const [created, listed] = await log.events(2);
    expect(log.text).not.toContain('managedFields');
    expect(created?.['responseObject']).toMatchObject({ metadata: { name: 'a' } });
    expect(listed?.['responseObject']).toMatchObject({ kind: 'ConfigMapList', items: [{ metadata: { name: 'a' } }] });
  });

  it('has the reason of a failure, and of a refusal who decided it', async () => {
    const log = await audited('- {level: Metadata, omitStages: [RequestReceived]}');
    await send(log.wire, `${configMaps}/none`);
    await send(log.wire, configMaps, { as: 'anonymous' });
    const [missing, refused] = await log.events(2);
    expect(missing?.['responseStatus']).toEqual({
      metadata: {},
      status: 'Failure',
      message: 'configmaps "none" not found',
      reason: 'NotFound',
      details: { name: 'none', kind: 'configmaps' },
      code: 404,
    });
    expect(refused?.user).toEqual({ username: 'system:anonymous', groups: ['system:unauthenticated'] });
    expect(refused).toMatchObject({ responseStatus: { code: 403 }, annotations: { 'authorization.k8s.io/decision': 'forbid' } });
  });

  it('tells once of credentials that prove nothing, under no name', async () => {
    const log = await audited('- {level: None, users: [tester]}\n- {level: Metadata}');
    await send(log.wire, configMaps, { as: 'anonymous', headers: { authorization: 'Bearer wrong' } });
    await send(log.wire, configMaps, { as: 'anonymous', headers: { authorization: 'Bearer good' } });
    await send(log.wire, '/healthz');
    const [refused, ...others] = await log.events(3);
    expect(refused).toMatchObject({ stage: 'ResponseStarted', user: {}, responseStatus: { status: 'Failure', reason: 'Unauthorized', code: 401 } });
    expect(others.map(({ requestURI, stage }) => `${requestURI} ${stage}`)).toEqual(['/healthz RequestReceived', '/healthz ResponseComplete']);
  });

  it('has both users where one acts as another; rules are about the one who sent it', async () => {
    const log = await audited('- {level: None, users: [joe]}\n- {level: Metadata, omitStages: [RequestReceived]}');
    await sendHttp2(log.wire, configMaps, { headers: { 'impersonate-user': 'joe', 'impersonate-group': 'dev' } });
    const [event] = await log.events(1);
    expect(event).toMatchObject({ user: { username: 'kubernetes-admin' }, impersonatedUser: { username: 'joe', groups: ['dev', 'system:authenticated'] } });
  });

  it('tells of a watch when it begins and when it ends', async () => {
    const log = await audited('- {level: Metadata, omitStages: [RequestReceived]}');
    const watch = send(log.wire, `${configMaps}?watch=true`).catch(() => undefined);
    const begun = await log.events(1);
    expect(begun).toMatchObject([{ stage: 'ResponseStarted', verb: 'watch', responseStatus: { code: 200 } }]);
    await log.wire.server.stop();
    await watch;
    expect((await log.events(2))[1]).toMatchObject({ stage: 'ResponseComplete', auditID: begun[0]?.auditID });
  });

  it('tells of a failure of the server itself', async () => {
    const log = await audited('- {level: Metadata, omitStages: [RequestReceived]}');
    log.wire.api.before = () => Promise.reject(new TypeError('out of luck'));
    expect(json(await send(log.wire, configMaps))).toMatchObject({ code: 500 });
    const [event] = await log.events(1);
    expect(event).toMatchObject({ stage: 'Panic', responseStatus: { message: "APIServer panic'd: out of luck", reason: 'InternalError', code: 500 } });
    // The next request is in the log behind it, and nothing between them.
    await send(log.wire, '/healthz');
    expect((await log.events(2)).map(({ stage }) => stage)).toEqual(['Panic', 'ResponseComplete']);
  });

  it('holds what no JSON is: a broken body is refused and breaks no line', async () => {
    const log = await audited('- {level: RequestResponse, omitStages: [RequestReceived]}');
    const agent = 'a"\\b';
    await send(log.wire, `${configMaps}?x=%0a"`.replace('"', '%22'), {
      method: 'POST',
      body: '{"a":\n',
      headers: { 'content-type': 'application/json', 'user-agent': agent },
    });
    const [event] = await log.events(1);
    expect(event?.['requestObject']).toBeUndefined();
    expect(event?.['userAgent']).toBe(agent);
  });

  it('has what happens in the server’s own process', async () => {
    const world = createRealWorld({ logLevel: 'silent' });
    const log = new Audited('- {level: Metadata, omitStages: [RequestReceived]}');
    const small = new SmallApi();
    const api = auditedApi(small, allowAuthenticated, log.auditor(world));
    const asking = (path: string, text = 'limit=5'): ApiRequest => {
      const query = new URLSearchParams(text);
      return { ...common, info: parseRequestInfo('GET', path, query), query };
    };
    const common = {
      user: { name: 'system:node:n', groups: [] },
      body: { type: 'none' },
      userAgent: 'moor/n',
    } as const;
    await api.handle(asking(configMaps));
    await expect(api.handle(asking(`${configMaps}/none`))).rejects.toMatchObject({ code: 404 });
    const watching = await api.handle(asking(configMaps, 'watch=1'));
    if (watching.type !== 'watch') throw new Error('no watch');
    watching.start({ events: () => undefined, end: () => undefined }).stop();
    const events = await log.events(4);
    expect(events.map(({ verb, stage, responseStatus }) => [verb, stage, (responseStatus as { code: number }).code])).toEqual([
      ['list', 'ResponseComplete', 200],
      ['get', 'ResponseComplete', 404],
      ['watch', 'ResponseStarted', 200],
      ['watch', 'ResponseComplete', 200],
    ]);
    expect(events[0]).toMatchObject({ requestURI: `${configMaps}?limit=5`, user: { username: 'system:node:n' }, userAgent: 'moor/n' });
    expect(events[0]).not.toHaveProperty('sourceIPs');
  });
});
