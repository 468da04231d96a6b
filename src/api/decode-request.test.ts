import { describe, expect, it } from 'vitest';
import type { Pod } from './generated/types.ts';
import type { KubeObject } from './object.ts';
import { encodeProtobuf } from './protobuf/index.ts';
import { ApiError } from './status.ts';
import { type DecodeRequest, decodeRequest, type FieldValidation } from './decode-request.ts';

const pod = { group: '', version: 'v1', kind: 'Pod', type: 'Pod' };
const volume = { group: '', version: 'v1', kind: 'PersistentVolume', type: 'PersistentVolume' };
const storageClass = { group: 'storage.k8s.io', version: 'v1', kind: 'StorageClass', type: 'StorageClass' };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function post(expected: DecodeRequest['expected'], text: string, fieldValidation: FieldValidation = 'Strict') {
  return decodeRequest<KubeObject>({ expected, body: { type: 'json', bytes: bytes(text) }, fieldValidation });
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe(400);
    expect((error as ApiError).reason).toBe('BadRequest');
    return (error as ApiError).message;
  }
  throw new Error('accepted');
}

describe('kind and version', () => {
  it('come from the path where the body names none', () => {
    expect(post(storageClass, '{"provisioner":"x"}').object).toMatchObject({ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' });
    expect(JSON.stringify(post(pod, '{"metadata":{"name":"a"}}').object)).toMatch(/^\{"kind":"Pod","apiVersion":"v1","metadata":\{"name":"a"\}/);
    expect(post(pod, 'null').object).toMatchObject({ kind: 'Pod' });
  });

  it.each([
    [
      pod,
      '{"kind":"Nope","apiVersion":"v1"}',
      'Nope in version "v1" cannot be handled as a Pod: no kind "Nope" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      pod,
      '{"kind":"Pod","apiVersion":"v7"}',
      'Pod in version "v7" cannot be handled as a Pod: no kind "Pod" is registered for version "v7" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      pod,
      '{"kind":"ConfigMap","apiVersion":"v1"}',
      'ConfigMap in version "v1" cannot be handled as a Pod: converting (v1.ConfigMap) to (core.Pod): unknown conversion',
    ],
    [
      { group: '', version: 'v1', kind: 'Event', type: 'Event' },
      '{"kind":"Event","apiVersion":"events.k8s.io/v1"}',
      'the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)',
    ],
    [
      pod,
      '{"kind":"Pod","apiVersion":"a/b/c"}',
      'the object provided is unrecognized (must be of type Pod): unexpected GroupVersion string: a/b/c ({"kind":"Pod","apiVersion":"a/ ...)',
    ],
    [
      pod,
      '{"kind":5}',
      'the object provided is unrecognized (must be of type Pod): couldn\'t get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})',
    ],
  ])('%o %s', (expected, text, message) => {
    expect(refusal(() => post(expected, text))).toBe(message);
  });
});

describe('bodies that are no object', () => {
  const prefix = "the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: ";
  it.each([
    ['', 'unexpected end of JSON input (<empty>)'],
    ['{"kind":', 'unexpected end of JSON input ({"kind":)'],
    ['{"a":1}}', 'invalid character \'}\' after top-level value ({"a":1}})'],
    ['hello', "invalid character 'h' looking for beginning of value (68656c6c6f)"],
    [
      '[]',
      'json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
    ],
  ])('%j', (text, message) => {
    expect(refusal(() => post(pod, text))).toBe(prefix + message);
  });
});

describe('field validation', () => {
  const typo = '{"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"a","name":"b"},"spec":{"accessmodes":[],"hostPath":{"path":"/"}}}';

  it('Strict refuses, Warn warns, Ignore is silent', () => {
    const strict = 'strict decoding error: duplicate field "metadata.name", unknown field "spec.accessmodes"';
    expect(refusal(() => post(volume, typo))).toBe(`PersistentVolume in version "v1" cannot be handled as a PersistentVolume: ${strict}`);
    expect(post(volume, typo, 'Warn').warnings).toEqual(['duplicate field "metadata.name"', 'unknown field "spec.accessmodes"']);
    expect(post(volume, typo, 'Ignore').warnings).toEqual([]);
    expect(post(volume, typo, 'Warn').object.metadata.name).toBe('b');
  });

  it('reports in the order of the document', () => {
    const text = '{"zz":1,"metadata":{"name":"a","x":1,"name":"b"},"yy":{"a":1,"a":2},"spec":{},"spec":{}}';
    expect(post(pod, text, 'Warn').warnings).toEqual([
      'unknown field "zz"',
      'unknown field "metadata.x"',
      'duplicate field "metadata.name"',
      'unknown field "yy"',
      'duplicate field "spec"',
    ]);
  });

  it('looks into no data that Kubernetes keeps as it is', () => {
    const revision = { group: 'apps', version: 'v1', kind: 'ControllerRevision', type: 'ControllerRevision' };
    expect(post(revision, '{"data":{"a":1,"a":2},"revision":1}').object).toMatchObject({ data: { a: 2 } });
  });

  it('values that do not fit are refused whatever the validation', () => {
    expect(refusal(() => post(volume, '{"spec":{"accessModes":"RWO"}}', 'Ignore'))).toBe(
      'PersistentVolume in version "v1" cannot be handled as a PersistentVolume: json: cannot unmarshal string into Go struct field PersistentVolumeSpec.spec.accessModes of type []v1.PersistentVolumeAccessMode',
    );
  });
});

describe('other encodings', () => {
  it('YAML', () => {
    const yaml = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {on: "yes"}}\nspec:\n  hostNetwork: yes\n  priority: 010\n';
    const { object } = decodeRequest<Pod>({ expected: pod, body: { type: 'yaml', bytes: bytes(yaml) }, fieldValidation: 'Strict' });
    expect(object.metadata).toEqual({ name: 'a', labels: { true: 'yes' } });
    expect(object.spec).toMatchObject({ hostNetwork: true, priority: 8 });
  });

  it('YAML that is none', () => {
    const run = () => decodeRequest({ expected: pod, body: { type: 'yaml', bytes: bytes('a: [') }, fieldValidation: 'Strict' });
    expect(refusal(run)).toMatch(/^the object provided is unrecognized \(must be of type Pod\): yaml: line 1: .* \(613a205b\)$/);
  });

  it('protobuf', () => {
    const body = encodeProtobuf({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'c' }] } } as never);
    const { object } = decodeRequest<Pod>({ expected: pod, body: { type: 'protobuf', bytes: body }, fieldValidation: 'Strict' });
    expect(object.metadata.name).toBe('a');
    expect(object.spec.containers).toEqual([{ name: 'c', resources: {} }]);
  });

  it('protobuf that is none', () => {
    const run = (body: Uint8Array) => () => decodeRequest({ expected: pod, body: { type: 'protobuf', bytes: body }, fieldValidation: 'Strict' });
    expect(refusal(run(bytes('{}')))).toBe(
      'the object provided is unrecognized (must be of type Pod): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})',
    );
    expect(refusal(run(new Uint8Array()))).toBe('the object provided is unrecognized (must be of type Pod): empty data (<empty>)');
  });

  it('a value that is parsed already', () => {
    const value = { metadata: { name: 'a' }, spec: { typo: 1 } };
    expect(decodeRequest({ expected: pod, body: { type: 'value', value }, fieldValidation: 'Warn' }).warnings).toEqual(['unknown field "spec.typo"']);
  });
});
