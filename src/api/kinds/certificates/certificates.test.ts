/** Requests for certificates, after pkg/apis/certificates and pkg/registry/certificates of v1.36.4. */
import { describe, expect, test } from 'vitest';
import type { CertificateSigningRequest } from '../../generated/types.ts';
import { updateErrors } from '../../validation/strategy.ts';
import { sampleRequest, samples } from '../samples.ts';
import { created, NOW, type Raw, refusal, row, statusRefusal, statusUpdated, updated } from '../try-kind.ts';
import { certificateSigningRequestKind as kind } from './certificate-signing-request.ts';

const request = (spec: Raw = {}): Raw => ({
  metadata: { name: 'jane' },
  spec: { request: sampleRequest, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'], ...spec },
});
const time = '2026-03-01T10:00:00Z';
const condition = (type: string, status = 'True') => ({ type, status, lastUpdateTime: time, lastTransitionTime: time });
const withConditions = (...types: string[]): CertificateSigningRequest => ({
  ...created(kind, request()),
  status: types.length === 0 ? {} : { conditions: types.map((type) => condition(type)) },
});

/** What a write through /approval makes of a request, or what is wrong with it. */
function approve(old: CertificateSigningRequest, change: (copy: CertificateSigningRequest) => void) {
  const object = structuredClone(old);
  change(object);
  kind.approval?.prepareForUpdate(object, old, NOW);
  const errors = kind.approval?.validateUpdate(object, old) ?? [];
  return { object, errors: errors.map(({ field, detail }) => `${field}: ${detail}`) };
}

describe('what may be asked for', () => {
  test.each<[string, Raw, string[]]>([
    ['nothing to sign', { request: btoa('x') }, [`FieldValueInvalid spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST`]],
    ['no usages', { usages: [] }, ['FieldValueRequired spec.usages: Required value']],
    [
      'an unknown usage',
      { usages: ['fun'] },
      [expect.stringMatching(/^FieldValueNotSupported spec.usages\[0\]: Unsupported value: "fun": supported values: "any", /) as string],
    ],
    ['a usage twice', { usages: ['any', 'any'] }, ['FieldValueDuplicate spec.usages[1]: Duplicate value: "any"']],
    ['no signer', { signerName: '' }, ['FieldValueRequired spec.signerName: Required value']],
    [
      'the signer of old',
      { signerName: 'kubernetes.io/legacy-unknown' },
      ['FieldValueInvalid spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version'],
    ],
    [
      'a signer without a domain',
      { signerName: 'signer' },
      [`FieldValueInvalid spec.signerName: Invalid value: "signer": must be a fully qualified domain and path of the form 'example.com/signer-name'`],
    ],
    [
      'a signer of half a domain',
      { signerName: 'local/signer' },
      ['FieldValueInvalid spec.signerName: Invalid value: "local": should be a domain with at least two segments separated by dots'],
    ],
    [
      'a moment',
      { expirationSeconds: 599 },
      ['FieldValueInvalid spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
    ],
    ['a while', { expirationSeconds: 600 }, []],
  ])('%s', (_, spec, expected) => expect(refusal(kind, request(spec))).toEqual(expected));

  test('any name will do', () => expect(refusal(kind, { ...request(), metadata: { name: 'system:node:N_1' } })).toEqual([]));
});

describe('who asks', () => {
  test('is what the server found out, whatever the object says', () => {
    const object = created(kind, request({ username: 'root', uid: '0', groups: ['system:masters'], extra: { a: ['b'] } }));
    expect(object.spec).not.toHaveProperty('username');
    kind.prepareForCreate?.(object, NOW, { name: 'jane', uid: '7', groups: ['team'], extra: { scope: ['x'] } });
    expect(object.spec).toMatchObject({ username: 'jane', uid: '7', groups: ['team'], extra: { scope: ['x'] } });
  });

  test('cannot be changed, nor anything else, and a create cannot approve', () => {
    const object = created(kind, { ...request(), status: { conditions: [condition('Approved')], certificate: 'YQ==' } });
    expect(object.status).toEqual({});
    const changed = updated(kind, object, ({ spec, status }) => {
      spec.username = 'root';
      spec.usages = ['any'];
      status.certificate = 'YQ==';
    });
    expect(changed).toMatchObject({ spec: object.spec, status: {} });
    expect(updateErrors(kind, changed, object)).toEqual([]);
  });
});

describe('status', () => {
  test('takes a certificate once, and conditions that decide nothing', () => {
    const old = withConditions('Approved');
    expect(statusRefusal(kind, old, ({ status }) => void (status.certificate = btoa('x')))).toEqual([
      'FieldValueInvalid status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    ]);
    const issued: CertificateSigningRequest = { ...old, status: { ...old.status, certificate: 'YQ==' } };
    expect(statusRefusal(kind, issued, ({ status }) => void delete status.certificate)).toEqual([
      'FieldValueForbidden status.certificate: Forbidden: updates may not modify existing certificate content',
    ]);
    expect(statusRefusal(kind, old, ({ status }) => void status.conditions?.push({ ...condition('Failed'), lastUpdateTime: null }))).toEqual([]);
  });

  test.each(['Approved', 'Denied'])('does not decide: %s', (type) => {
    expect(statusRefusal(kind, withConditions(), ({ status }) => void (status.conditions = [condition(type)]))).toEqual([
      `FieldValueForbidden status.conditions: Forbidden: updates may not add a condition of type "${type}"`,
    ]);
    expect(statusRefusal(kind, withConditions(type), ({ status }) => void (status.conditions = []))).toEqual([
      `FieldValueForbidden status.conditions: Forbidden: updates may not remove a condition of type "${type}"`,
    ]);
    const reworded = statusUpdated(kind, withConditions(type), ({ status }) => void (status.conditions = [{ ...condition(type), reason: 'other' }]));
    expect(reworded.status.conditions).toEqual([condition(type)]);
  });

  test('dates what is not dated; what was so stays so since then', () => {
    const failed = { type: 'Failed', status: 'True', lastUpdateTime: null, lastTransitionTime: null };
    const now = '2026-03-01T12:00:00Z';
    expect(statusUpdated(kind, withConditions(), ({ status }) => void (status.conditions = [failed])).status.conditions).toEqual([
      { ...failed, lastUpdateTime: now, lastTransitionTime: now },
    ]);
    expect(statusUpdated(kind, withConditions('Failed'), ({ status }) => void (status.conditions = [failed])).status.conditions).toEqual([
      { ...failed, lastUpdateTime: now, lastTransitionTime: time },
    ]);
  });
});

describe('approval', () => {
  test('writes conditions, and nothing else', () => {
    const { object, errors } = approve(withConditions(), ({ status }) => {
      status.conditions = [{ type: 'Approved', status: 'True', reason: 'why', lastUpdateTime: null, lastTransitionTime: null }];
      status.certificate = btoa('mine');
    });
    expect(errors).toEqual([]);
    expect(object.status.certificate).toBeUndefined();
    expect(object.status.conditions).toMatchObject([{ type: 'Approved', reason: 'why', lastUpdateTime: '2026-03-01T12:00:00Z' }]);
  });

  test.each<[string, string[], ReturnType<typeof condition>[], string[]]>([
    ['both ways', ['Approved'], [condition('Approved'), condition('Denied')], ['status.conditions: Approved and Denied conditions are mutually exclusive']],
    ['the other way', ['Approved'], [condition('Denied')], ['status.conditions: updates may not remove a condition of type "Approved"']],
    ['half', [], [condition('Approved', 'False')], ['status.conditions[0].status: supported values: "True"']],
    ['without a status', [], [condition('Denied', '')], ['status.conditions[0].status: ']],
    ['twice', [], [condition('Approved'), condition('Approved')], ['status.conditions[1].type: ']],
    ['without a type', [], [condition('')], ['status.conditions[0].type: ']],
    ['something else', [], [condition('Odd', 'Unknown')], []],
  ])('a request cannot be decided %s', (_, before, after, expected) => {
    expect(approve(withConditions(...before), ({ status }) => void (status.conditions = after)).errors).toEqual(expected);
  });

  test('what was stored before there were such rules may stay', () => {
    const old = withConditions('Approved', 'Denied', 'Approved', '');
    old.spec.signerName = 'kubernetes.io/legacy-unknown';
    old.spec.usages = ['fun', 'fun'];
    old.status.certificate = 'YQ==';
    expect(approve(old, ({ metadata }) => void (metadata.labels = { a: 'b' })).errors).toEqual([]);
  });
});

test.each([
  [[], undefined, 'Pending'],
  [['Approved'], undefined, 'Approved'],
  [['Approved'], 'YQ==', 'Approved,Issued'],
  [['Denied'], undefined, 'Denied'],
  [['Approved', 'Failed'], undefined, 'Approved,Failed'],
  [['Failed'], undefined, 'Pending,Failed'],
])('%j and %j print as %s', (types, certificate, expected) => {
  const object = withConditions(...types);
  if (certificate !== undefined) object.status.certificate = certificate;
  object.spec = { ...object.spec, username: 'jane', expirationSeconds: 86_400 };
  expect(row(kind, object)).toMatchObject({
    SignerName: 'kubernetes.io/kube-apiserver-client',
    Requestor: 'jane',
    RequestedDuration: '24h',
    Condition: expected,
  });
});

test('the sample is one of them', () => expect(samples['CertificateSigningRequest']).toEqual(request()));
