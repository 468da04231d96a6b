import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CertificateSigningRequest } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { signers } from '../../../api/kinds/certificates/signer-name.ts';
import { nodeRequest, sampleRequest, servingRequest } from '../../../api/kinds/samples.ts';
import { simulatedCertificate } from '../../../sim/cluster/certificate.ts';
import type { CertificateAction } from './actions.ts';
import { decideRequest } from './decide.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const hour = 3_600_000;
const timestamp = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

interface Fields {
  readonly spec?: Partial<CertificateSigningRequest['spec']>;
  /** Types of conditions, `true` all of them, since `age` ago. */
  readonly conditions?: readonly string[];
  readonly certificate?: string;
  readonly age?: number;
  /** Of the requesting node. */
  readonly announced?: readonly string[];
}

function request({ spec, conditions = [], certificate, age = 0 }: Fields = {}): Stored<CertificateSigningRequest> {
  const time = timestamp(now - age);
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r', uid: 'u', resourceVersion: '1', creationTimestamp: time },
    spec: { request: nodeRequest, signerName: signers.nodeClient, usages: ['client auth', 'digital signature'], username: 'bootstrap', ...spec },
    status: {
      ...(conditions.length === 0 ? {} : { conditions: conditions.map((type) => ({ type, status: 'True', lastUpdateTime: time, lastTransitionTime: time })) }),
      ...(certificate === undefined ? {} : { certificate }),
    },
  };
}

const decide = (fields: Fields, signs = true) => decideRequest({ request: request(fields), signs, announced: fields.announced ?? [] }, now);
const told = (action: CertificateAction): string => {
  switch (action.do) {
    case 'approveIfAllowed':
      return `approve: ${action.permissions.map(({ subresource }) => subresource).join(' ')}`;
    case 'fail':
      return `fail: ${action.message}`;
    default:
      return action.do;
  }
};
const steps = (fields: Fields, signs = true): string[] => decide(fields, signs).actions.map(told);

describe('a pending request', () => {
  test('is approved if a node requests its client certificate and is permitted', () => {
    expect(steps({})).toEqual(['approve: nodeclient']);
    expect(steps({ spec: { username: 'system:node:n1' } })).toEqual(['approve: selfnodeclient nodeclient']);
  });

  /** For the name n1, by that node. */
  const ofServer = { request: servingRequest, signerName: signers.nodeServing, usages: ['server auth', 'digital signature'], username: 'system:node:n1' };

  test('is approved if a node requests its serving certificate for names of its Node object', () => {
    expect(steps({ spec: ofServer, announced: ['10.0.0.7', 'n1'] })).toEqual(['approve: selfnodeserver']);
  });

  test.each<[string, Fields]>([
    ['announces other names', { spec: ofServer, announced: ['n2', '10.0.0.7'] }],
    ['announces nothing yet', { spec: ofServer }],
    ['is another one', { spec: { ...ofServer, username: 'system:node:n2' }, announced: ['n1'] }],
    ['would be a client as well', { spec: { ...ofServer, usages: [...ofServer.usages, 'client auth'] }, announced: ['n1'] }],
    ['asks for no name', { spec: { ...ofServer, request: nodeRequest }, announced: ['n1'] }],
  ])('waits for an administrator if the node %s', (_, given) => expect(steps(given)).toEqual([]));

  test.each<[string, Partial<CertificateSigningRequest['spec']>]>([
    ['is for another signer', { signerName: signers.client }],
    ['is for a server', { request: servingRequest }],
    ['is for a person', { request: sampleRequest }],
    ['is for other uses', { usages: ['client auth', 'digital signature', 'server auth'] }],
    ['cannot be read', { request: 'YQ==' }],
  ])('waits for an approver if it %s', (_, spec) => expect(steps({ spec })).toEqual([]));
});

describe('an approved request', () => {
  const approved = (spec: Partial<CertificateSigningRequest['spec']>): Fields => ({ spec, conditions: ['Approved'] });

  // pkg/apis/certificates/helpers.go and pkg/controller/certificates/signer, v1.36.4
  test.each<[string, Partial<CertificateSigningRequest['spec']>, string]>([
    ['of a node', {}, 'sign'],
    ['of a node with an RSA key', { usages: ['key encipherment', 'client auth', 'digital signature'] }, 'sign'],
    ['of a node that would serve', { usages: ['server auth'] }, 'fail: usages did not match [client auth digital signature key encipherment]'],
    ['of a node that has names', { request: servingRequest }, 'fail: DNS subjectAltNames are not allowed'],
    ['of a person as a node', { request: sampleRequest }, 'fail: subject organization is not system:nodes'],
    ['of a server', { request: servingRequest, signerName: signers.nodeServing, usages: ['server auth', 'digital signature'] }, 'sign'],
    [
      'of a server without a name',
      { signerName: signers.nodeServing, usages: ['server auth', 'digital signature'] },
      'fail: DNS or IP subjectAltName is required',
    ],
    [
      'of a server that would be a client',
      { request: servingRequest, signerName: signers.nodeServing },
      'fail: usages did not match [digital signature key encipherment server auth]',
    ],
    ['of a person', { request: sampleRequest, signerName: signers.client, usages: ['client auth'] }, 'sign'],
    [
      'of a person who would serve',
      { request: sampleRequest, signerName: signers.client, usages: ['client auth', 'server auth'] },
      'fail: invalid usage for client certificate: server auth',
    ],
    [
      'of a person for nothing',
      { request: sampleRequest, signerName: signers.client, usages: ['digital signature'] },
      'fail: missing required usage for client certificate: client auth',
    ],
  ])('%s', (_, spec, expected) => expect(steps(approved(spec))).toEqual([expected]));

  test('is left alone for other signers, or without the CA key', () => {
    expect(steps(approved({ signerName: 'example.com/other' }))).toEqual([]);
    expect(steps(approved({}), false)).toEqual([]);
  });

  test.each([['Denied'], ['Failed']])('that is %s as well is not signed', (type) => expect(steps({ conditions: ['Approved', type] })).toEqual([]));

  test('is signed once', () => expect(steps({ conditions: ['Approved'], certificate: simulatedCertificate })).toEqual([]));
});

describe('a request for a node that another user makes', () => {
  const approvedFor = (reason: string, username: string) => {
    const asked = request({ spec: { username }, conditions: ['Approved'] });
    const conditions = (asked.status.conditions ?? []).map((condition) => ({ ...condition, reason }));
    return decideRequest({ request: { ...asked, status: { conditions } }, signs: true, announced: [] }, now).actions[0];
  };

  test('is approved and signed only while the node does not exist', () => {
    expect(decide({}).actions[0]).toMatchObject({ do: 'approveIfAllowed', newNode: 'n1' });
    expect(approvedFor('AutoApproved', 'bootstrap')).toMatchObject({ do: 'sign', newNode: 'n1' });
  });

  test('is signed in any case if the node itself asks, or an administrator approved it', () => {
    expect(decide({ spec: { username: 'system:node:n1' } }).actions[0]).toMatchObject({ newNode: undefined });
    expect(approvedFor('AutoApproved', 'system:node:n1')).toMatchObject({ do: 'sign', newNode: undefined });
    expect(approvedFor('KubectlApprove', 'bootstrap')).toMatchObject({ do: 'sign', newNode: undefined });
  });
});

// pkg/controller/certificates/cleaner, v1.36.4
test.each<[string, Fields, number]>([
  ['pending', {}, 24 * hour],
  ['denied', { conditions: ['Denied'] }, hour],
  ['failed', { conditions: ['Approved', 'Failed'] }, hour],
  ['issued', { conditions: ['Approved'], certificate: simulatedCertificate }, hour],
  ['approved, for a signer that is not here', { conditions: ['Approved'], spec: { signerName: 'example.com/other' } }, 24 * hour],
])('a request that is %s is removed in time', (_, fields, age) => {
  const kept = decide({ ...fields, age });
  expect(kept.actions.map(told)).not.toContain('delete');
  expect(kept.again).toBe(now + 1);
  expect(steps({ ...fields, age: age + 1_000 })).toEqual(['delete']);
});

test('a request with only unknown conditions stays', () => {
  expect(decide({ conditions: ['Odd'], age: 1_000 * hour }).again).toBeUndefined();
});

const fields = fc.record(
  {
    spec: fc.record({
      request: fc.constantFrom(nodeRequest, servingRequest, sampleRequest, 'YQ=='),
      signerName: fc.constantFrom(...Object.values(signers), 'example.com/other'),
      usages: fc.subarray(['client auth', 'server auth', 'digital signature', 'key encipherment']),
      username: fc.constantFrom('system:node:n1', 'bootstrap'),
    }),
    conditions: fc.subarray(['Approved', 'Denied', 'Failed', 'Odd']),
    certificate: fc.constant(simulatedCertificate),
    age: fc.nat(30 * hour),
    announced: fc.subarray(['n1', '10.0.0.7']),
  },
  { requiredKeys: [] },
);

/** The request after the server has applied an action. */
function after(before: Stored<CertificateSigningRequest>, action: CertificateAction): Stored<CertificateSigningRequest> | undefined {
  const condition = (type: string) => ({ type, status: 'True', lastUpdateTime: timestamp(now), lastTransitionTime: timestamp(now) });
  const conditions = before.status.conditions ?? [];
  switch (action.do) {
    case 'approveIfAllowed':
      return { ...before, status: { ...before.status, conditions: [...conditions, condition('Approved')] } };
    case 'fail':
      return { ...before, status: { ...before.status, conditions: [...conditions, condition('Failed')] } };
    case 'sign':
      return { ...before, status: { ...before.status, certificate: simulatedCertificate } };
    default:
      return undefined;
  }
}

function settle(start: Stored<CertificateSigningRequest>, announced: readonly string[] = []): Stored<CertificateSigningRequest> | undefined {
  let current: Stored<CertificateSigningRequest> | undefined = start;
  for (let pass = 0; pass < 4 && current !== undefined; pass++) {
    const [action] = decideRequest({ request: current, signs: true, announced }, now).actions;
    if (action === undefined) return current;
    current = after(current, action);
  }
  if (current !== undefined) throw new Error('it does not settle');
  return undefined;
}

describe('deciding', () => {
  test('settles: approved, signed or failed, then nothing', () => {
    fc.assert(fc.property(fields, (given) => void settle(request(given), given.announced)));
  });

  test('comes to the same end after a crash anywhere', () => {
    fc.assert(
      fc.property(fields, (given) => {
        const start = request(given);
        const [action] = decideRequest({ request: start, signs: true, announced: given.announced ?? [] }, now).actions;
        const next = action === undefined ? start : after(start, action);
        expect(next === undefined ? undefined : settle(next, given.announced)).toEqual(settle(start, given.announced));
      }),
    );
  });

  test('is the same for the same request, and one step at a time', () => {
    fc.assert(
      fc.property(fields, (given) => {
        const decided = decide(given);
        expect(decide(given)).toEqual(decided);
        expect(decided.actions.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
