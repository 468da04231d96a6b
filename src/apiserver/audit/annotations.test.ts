import { describe, expect, test } from 'vitest';
import { parseRequestInfo } from '../../api/request-info.ts';
import { type ApiUnderTest, onApi } from '../../../test/apiserver/api-under-test.ts';
import { allowAuthenticated } from '../../sim/cluster/access.ts';
import { auditedApi } from './audited-api.ts';
import { Auditor } from './auditor.ts';
import { AuditContext } from './audit-context.ts';
import { readAuditPolicy } from './read-policy.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const maps = '/api/v1/namespaces/default/configmaps';

interface Event {
  readonly annotations: Readonly<Record<string, string>>;
  readonly responseStatus: { readonly code: number };
}

const policy = readAuditPolicy({
  name: 'policy',
  bytes: Buffer.from('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- {level: Metadata, omitStages: [RequestReceived]}\n'),
}).value;

/** The event of one creation. */
async function eventOf({ api, world }: ApiUnderTest, data: Record<string, string>): Promise<Event> {
  const lines: string[] = [];
  const auditor = new Auditor({
    policy,
    destination: { write: async (bytes) => void lines.push(Buffer.from(bytes).toString()), close: async () => undefined },
    world,
    counters: { events: { add: () => undefined }, errors: { add: () => undefined } },
  });
  const body = { type: 'object', contentType: 'application/json', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm' }, data } } as const;
  const user = { name: 'tester', groups: ['system:masters'] };
  const query = new URLSearchParams();
  const request = { info: parseRequestInfo('POST', maps, query), query, user, userAgent: '', body } as const;
  await auditedApi(api, allowAuthenticated, auditor)
    .handle(request)
    .catch(() => undefined);
  await auditor.stop();
  return JSON.parse(lines.join('')) as Event;
}

async function enforce(api: ApiUnderTest, actions: readonly string[]): Promise<void> {
  const spec = {
    matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }] },
    validations: [{ expression: 'true' }, { expression: "!('bad' in object.data)", message: 'no bad ones' }],
    auditAnnotations: [
      { key: 'keys', valueExpression: "'has ' + string(size(object.data))" },
      { key: 'nothing', valueExpression: 'null' },
    ],
  };
  await api.create(`${group}/validatingadmissionpolicies`, { metadata: { name: 'p.example.com' }, spec });
  const binding = { policyName: 'p.example.com', validationActions: actions };
  expect(await api.create(`${group}/validatingadmissionpolicybindings`, { metadata: { name: 'b' }, spec: binding })).toMatchObject({ code: 201 });
}

const failure = 'validation.policy.admission.k8s.io/validation_failure';

describe('what policies say of a request is in its audit event (v1.36.4)', () => {
  test(
    'a failure that is only audited lets the object pass',
    onApi(async (api) => {
      await enforce(api, ['Audit']);
      const { annotations, responseStatus } = await eventOf(api, { bad: '1' });
      expect(responseStatus.code).toBe(201);
      expect(annotations['p.example.com/keys']).toBe('has 1');
      expect(annotations).not.toHaveProperty('p.example.com/nothing');
      expect(annotations[failure]).toBe('[{"message":"no bad ones","policy":"p.example.com","binding":"b","expressionIndex":1,"validationActions":["Audit"]}]');
    }),
  );

  test(
    'a failure that is denied as well is there, too; what is fine leaves no failure',
    onApi(async (api) => {
      await enforce(api, ['Deny', 'Audit']);
      expect(await eventOf(api, { bad: '1' })).toMatchObject({ responseStatus: { code: 422 }, annotations: { [failure]: expect.stringContaining('"Deny"') } });
      const { annotations } = await eventOf(api, { good: '1' });
      expect(annotations).not.toHaveProperty(failure);
      expect(annotations['p.example.com/keys']).toBe('has 1');
    }),
  );

  test(
    'keys have one prefix, what was said stays, and what shows the request needs its level',
    onApi(async ({ world }) => {
      const lines: string[] = [];
      const auditContext = new AuditContext(
        { auditId: 'a', requestUri: maps, userAgent: '', sourceIps: [] },
        { policy, clock: world.clock, write: (line) => void lines.push(line) },
      );
      auditContext.annotate('early.example.com/a', 'the policy is not evaluated yet');
      auditContext.setRequestInfo({
        type: 'resource',
        verb: 'create',
        group: '',
        version: 'v1',
        resource: 'configmaps',
        subresource: '',
        namespace: 'default',
        name: '',
      });
      auditContext.setUser({ name: 'u', groups: [] });
      auditContext.annotate('x.example.com/a', '1');
      auditContext.annotate('x.example.com/a', '2');
      auditContext.annotate('plain', '1');
      auditContext.annotate('a/b/c', '1');
      auditContext.annotate('no spaces/here', '1');
      auditContext.annotate('x.example.com/__proto__', '1');
      auditContext.annotate('patch.example.com/p', 'the whole patch', 'Request');
      auditContext.responseComplete(201);
      expect((JSON.parse(lines.join('')) as Event).annotations).toEqual({ 'x.example.com/a': '1' });
    }),
  );
});
