import { describe, expect, it } from 'vitest';
import type { Pod } from '../generated/types.ts';
import type { FieldValidation } from '../decode-request.ts';
import { decode, deepFreeze } from '../schema/index.ts';
import { ApiError } from '../status.ts';
import { preparePatch } from './index.ts';

const kind = { group: '', version: 'v1', kind: 'Pod', type: 'Pod' };
const pod = deepFreeze(
  decode<Pod>('Pod', {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { containers: [{ name: 'a', image: 'x' }, { name: 'b' }] },
  }).object,
);

const types = { json: 'application/json-patch+json', merge: 'application/merge-patch+json', strategic: 'application/strategic-merge-patch+json' } as const;

function prepare(type: keyof typeof types, patch: string, fieldValidation: FieldValidation = 'Strict') {
  return preparePatch({ contentType: types[type], body: { type: 'bytes', bytes: new TextEncoder().encode(patch) }, kind, fieldValidation });
}

function refusal(run: () => unknown): Pick<ApiError, 'code' | 'reason' | 'message' | 'details'> {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    const { code, reason, message, details } = error as ApiError;
    return { code, reason, message, details };
  }
  throw new Error('accepted');
}

describe('the three types', () => {
  it.each([
    ['json', '[{"op":"replace","path":"/spec/containers/0/image","value":"y"}]'],
    ['merge', '{"spec":{"containers":[{"name":"a","image":"y"},{"name":"b"}]}}'],
    ['strategic', '{"spec":{"containers":[{"name":"a","image":"y"}]}}'],
  ] as const)('%s', (type, patch) => {
    const { object, warnings } = prepare(type, patch).apply(pod);
    expect(object.spec.containers).toEqual([
      { name: 'a', image: 'y', resources: {} },
      { name: 'b', resources: {} },
    ]);
    expect(warnings).toEqual([]);
  });

  it('can be applied again, to another object', () => {
    const patch = prepare('strategic', '{"metadata":{"labels":{"app":null,"x":"1"}}}');
    expect(patch.apply(pod).object.metadata.labels).toEqual({ x: '1' });
    expect(patch.apply({ ...pod, metadata: { name: 'other', labels: { y: '2' } } }).object.metadata.labels).toEqual({ x: '1', y: '2' });
  });

  it('another content type', () => {
    const run = () => preparePatch({ contentType: 'application/json', body: { type: 'value', value: {} }, kind, fieldValidation: 'Strict' });
    expect(refusal(run)).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  });
});

describe('patches that are none', () => {
  it.each<[keyof typeof types, string, FieldValidation, string]>([
    ['json', '{', 'Warn', 'error decoding patch: unexpected end of JSON input'],
    ['json', '{', 'Ignore', 'unexpected end of JSON input'],
    ['json', '{}', 'Warn', 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ['json', '{}', 'Ignore', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    ['json', '[{"op":1}]', 'Strict', 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string'],
    ['merge', '[]', 'Strict', 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['merge', 'x', 'Ignore', 'Invalid JSON Patch'],
    ['merge', 'null', 'Strict', 'Invalid JSON Patch'],
    ['strategic', '[]', 'Strict', 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['strategic', '', 'Strict', 'unexpected end of JSON input'],
    ['strategic', '{"spec":{"$retainKeys":1}}', 'Strict', 'invalid patch format of retainKeys'],
  ])('%s %s (%s)', (type, patch, fieldValidation, message) => {
    expect(refusal(() => prepare(type, patch, fieldValidation).apply(pod))).toEqual({ code: 400, reason: 'BadRequest', message, details: undefined });
  });

  it('more operations than a patch may have', () => {
    const patch = JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: null })));
    expect(refusal(() => prepare('json', patch))).toMatchObject({
      code: 413,
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
  });
});

describe('patches that do not apply', () => {
  const unprocessable = { code: 422, reason: 'Invalid', message: 'the server rejected our request due to an error in our request', details: {} };

  it('a failed test: 422 without causes', () => {
    expect(refusal(() => prepare('json', '[{"op":"test","path":"/metadata/name","value":"other"}]').apply(pod))).toEqual(unprocessable);
  });

  it('a list of lists: 422; a missing merge key: 500', () => {
    expect(refusal(() => prepare('strategic', '{"spec":{"containers":[[1]]}}').apply({ ...pod, spec: { ...pod.spec, containers: [] } }))).toEqual(
      unprocessable,
    );
    expect(refusal(() => prepare('strategic', '{"spec":{"containers":[{"image":"y"}]}}').apply(pod))).toMatchObject({
      code: 500,
      message: 'map: map[image:y] does not contain declared merge key: name',
    });
  });
});

describe('results that do not fit', () => {
  it('a wrong type, from a merge patch', () => {
    const failure = refusal(() => prepare('merge', '{"spec":{"nodeName":5}}').apply(pod));
    expect(failure).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(failure.message).toMatch(
      /^ "" is invalid: patch: Invalid value: "\{.*\}": json: cannot unmarshal number into Go struct field PodSpec\.spec\.nodeName of type string$/,
    );
    expect(failure.details?.causes?.[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'patch' });
  });

  it.each([
    ['{"spec":{"nodeName":5}}', 'map[spec:map[nodeName:5]]', 'cannot convert int64 to string'],
    ['{"spec":{"nodeName":true}}', 'map[spec:map[nodeName:true]]', 'unrecognized type: string'],
    ['{"spec":{"priority":"x"}}', 'map[spec:map[priority:x]]', 'unrecognized type: int32'],
    ['{"spec":{"priority":1.5}}', 'map[spec:map[priority:1.5]]', 'cannot convert float64 to int32'],
    ['{"spec":{"tolerations":"x"}}', 'map[spec:map[tolerations:x]]', 'cannot restore slice from string'],
    ['{"spec":{"securityContext":[]}}', 'map[spec:map[securityContext:[]]]', 'cannot restore struct from: slice'],
    ['{"spec":{"nodeSelector":1}}', 'map[spec:map[nodeSelector:1]]', 'cannot restore map from int64'],
  ])('a wrong type, from the strategic patch %s', (patch, value, detail) => {
    expect(refusal(() => prepare('strategic', patch).apply(pod)).message).toBe(` "" is invalid: patch: Invalid value: "${value}": ${detail}`);
  });
});

describe('field validation', () => {
  it('of the result', () => {
    const patch = '{"spec":{"zz":1,"nodename":"x"}}';
    expect(refusal(() => prepare('strategic', patch).apply(pod)).message).toBe(
      ' "" is invalid: patch: Invalid value: "map[spec:map[nodename:x zz:1]]": strict decoding error: unknown field "spec.nodename", unknown field "spec.zz"',
    );
    expect(prepare('strategic', patch, 'Warn').apply(pod).warnings).toEqual(['unknown field "spec.nodename"', 'unknown field "spec.zz"']);
    expect(prepare('merge', patch, 'Warn').apply(pod).warnings).toEqual(['unknown field "spec.zz"', 'unknown field "spec.nodename"']);
    expect(prepare('merge', patch, 'Ignore').apply(pod).warnings).toEqual([]);
  });

  it('of the patch itself', () => {
    expect(prepare('merge', '{"metadata":{"labels":{"a":"1","a":"2"}}}', 'Warn').apply(pod).warnings).toEqual(['duplicate field "metadata.labels.a"']);
    const operations = '[{"op":"add","path":"/metadata/labels/a","value":"1","wat":1,"op":"add"}]';
    expect(prepare('json', operations, 'Warn').apply(pod).warnings).toEqual(['json patch unknown field "[0].wat"', 'json patch duplicate field "[0].op"']);
    expect(refusal(() => prepare('json', operations).apply(pod)).message).toContain('strict decoding error: json patch unknown field "[0].wat"');
  });
});

it('a strategic patch cannot change what kind of object it is applied to', () => {
  expect(prepare('strategic', '{"kind":"ConfigMap","apiVersion":"v2"}').apply(pod).object).toMatchObject({ kind: 'Pod', apiVersion: 'v1' });
});
