import { beforeAll, describe, expect, test } from 'vitest';
import { loadCel } from '../../cel/environment.ts';
import { created, type Raw, refusal, row, statusRefusal, updateRefusal } from '../try-kind.ts';
import { resourceClaimKind, resourceClaimTemplateKind } from './claims.ts';
import { deviceClassKind } from './device-class.ts';
import { resourceSliceKind } from './resource-slice.ts';

beforeAll(loadCel);

const gpu = { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } };
const claim = (devices: Raw): Raw => ({ metadata: { name: 'gpus', namespace: 'default' }, spec: { devices } });

describe('a ResourceClaim', () => {
  test('asks for one device unless it says otherwise', () => {
    expect(refusal(resourceClaimKind, claim({ requests: [gpu] }))).toEqual([]);
    expect(created(resourceClaimKind, claim({ requests: [gpu] })).spec.devices.requests).toMatchObject([
      { exactly: { allocationMode: 'ExactCount', count: 1 } },
    ]);
  });

  test.each<[string, Raw, ...(string | RegExp)[]]>([
    ['requests say what they want', { requests: [{ name: 'a' }] }, /^FieldValueRequired spec\.devices\.requests\[0\]: .*exactly one of `exactly`/],
    ['in one way', { requests: [{ ...gpu, firstAvailable: [{ name: 'b', deviceClassName: 'c' }] }] }, /but multiple fields are set$/],
    ['requests have names of their own', { requests: [gpu, gpu] }, 'FieldValueDuplicate spec.devices.requests[1]: Duplicate value: "gpu"'],
    [
      'all devices have no count',
      { requests: [{ name: 'a', exactly: { deviceClassName: 'c', allocationMode: 'All', count: 2 } }] },
      "FieldValueInvalid spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'",
    ],
    [
      'selectors are expressions about a device',
      {
        requests: [
          { name: 'a', exactly: { deviceClassName: 'c', selectors: [{}, { cel: { expression: 'device.' } }, { cel: { expression: 'device.driver' } }] } },
        ],
      },
      'FieldValueRequired spec.devices.requests[0].exactly.selectors[0].cel: Required value',
      /^FieldValueInvalid spec\.devices\.requests\[0\]\.exactly\.selectors\[1\]\.cel\.expression: .*compilation failed/s,
      'FieldValueInvalid spec.devices.requests[0].exactly.selectors[2].cel.expression: Invalid value: "device.driver": must evaluate to bool',
    ],
    [
      'constraints are about its requests',
      { requests: [gpu], constraints: [{ requests: ['cpu'], matchAttribute: 'numa' }] },
      /^FieldValueInvalid spec\.devices\.constraints\[0\]\.requests\[0\]: .*must be the name of a request in the claim/,
      /a fully qualified name must be a domain and a name separated by a slash$/,
    ],
    [
      'configurations are objects',
      { requests: [gpu], config: [{ opaque: { driver: 'gpu.example.com', parameters: [1] } }, {}] },
      'FieldValueInvalid spec.devices.config[0].opaque.parameters: Invalid value: must be a valid JSON object',
      'FieldValueRequired spec.devices.config[1].opaque: Required value',
    ],
  ])('%s', (_, devices, ...causes) => {
    expect(refusal(resourceClaimKind, claim(devices))).toEqual(causes.map((cause) => (typeof cause === 'string' ? cause : expect.stringMatching(cause))));
  });

  test('keeps its spec', () => {
    const changed = updateRefusal(resourceClaimKind, created(resourceClaimKind, claim({ requests: [gpu] })), ({ spec }) => {
      spec.devices.requests = [];
    });
    expect(changed).toEqual([expect.stringMatching(/^FieldValueInvalid spec: .*field is immutable$/s)]);
  });

  const result = { request: 'gpu', driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0' };
  const user = { resource: 'pods', name: 'web', uid: 'u1' };

  test('is reserved once it is allocated, and for devices that it has', () => {
    const stored = created(resourceClaimKind, claim({ requests: [gpu] }));
    const status = (to: Raw): string[] => statusRefusal(resourceClaimKind, stored, (object) => void Object.assign(object, { status: to }));
    const allocation = { devices: { results: [result] } };
    expect(status({ allocation, reservedFor: [user], devices: [{ driver: 'gpu.example.com', pool: 'n1', device: 'gpu-0', conditions: null }] })).toEqual([]);
    expect(status({ reservedFor: [user] })).toEqual(['FieldValueForbidden status.reservedFor: Forbidden: may not be specified when `allocated` is not set']);
    expect(status({ allocation: { devices: { results: [{ ...result, request: 'cpu' }] } } })).toEqual([
      expect.stringContaining('must be the name of a request in the claim'),
    ]);
    expect(status({ allocation, devices: [{ driver: 'gpu.example.com', pool: 'n1', device: 'gpu-1', conditions: null }] })).toEqual([
      expect.stringContaining('must be an allocated device in the claim'),
    ]);
    expect(row(resourceClaimKind, stored)).toMatchObject({ State: 'pending' });
  });
});

test('a ResourceClaimTemplate has the rules of a claim', () => {
  const template = { metadata: { name: 't', namespace: 'default' }, spec: { metadata: { name: 'x' }, spec: { devices: { requests: [{ name: 'a' }] } } } };
  expect(refusal(resourceClaimTemplateKind, template)).toEqual([
    'FieldValueForbidden spec.metadata.name: Forbidden: cannot be set',
    expect.stringMatching(/^FieldValueRequired spec\.spec\.devices\.requests\[0\]/),
  ]);
});

test('a DeviceClass has selectors, configurations and the name of an extended resource', () => {
  const expression = 'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "x"';
  const spec = { selectors: [{ cel: { expression } }], config: [{ opaque: { driver: 'gpu.example.com', parameters: { a: 1 } } }] };
  expect(refusal(deviceClassKind, { metadata: { name: 'gpu.example.com' }, spec })).toEqual([]);
  expect(refusal(deviceClassKind, { metadata: { name: 'gpu' }, spec: { extendedResourceName: 'cpu' } })).toEqual([
    'FieldValueInvalid spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name',
  ]);
});

describe('a ResourceSlice', () => {
  const slice = (spec: Raw): Raw => ({
    metadata: { name: 's' },
    spec: { driver: 'gpu.example.com', pool: { name: 'n1', resourceSliceCount: 1 }, nodeName: 'n1', ...spec },
  });
  const device = (of: Raw): Raw => slice({ devices: [{ name: 'gpu-0', ...of }] });

  test('has devices with attributes and capacities', () => {
    const attributes = { model: { string: 'x' }, 'gpu.example.com/version': { version: '1.2.3-rc.1+build' }, cores: { int: 7 } };
    expect(refusal(resourceSliceKind, device({ attributes, capacity: { memory: { value: '80Gi' } } }))).toEqual([]);
    expect(row(resourceSliceKind, created(resourceSliceKind, slice({})))).toMatchObject({ Node: 'n1', Driver: 'gpu.example.com', Pool: 'n1' });
  });

  test.each<[string, Raw, ...(string | RegExp)[]]>([
    ['is somewhere', slice({ nodeName: undefined }), /^FieldValueRequired spec: .*exactly one of `nodeName`/],
    ['is in one place', slice({ allNodes: true }), /Invalid value: "\{`nodeName`, `allNodes`\}": .*but multiple fields are set$/],
    [
      'counts its slices',
      slice({ pool: { name: '', resourceSliceCount: 0, generation: -1 } }),
      /pool\.name/,
      /greater than zero/,
      /greater than or equal to zero/,
    ],
    ['attributes have one value', device({ attributes: { a: {}, b: { int: 1, bool: true } } }), /attributes\[a\]/, /exactly one value must be specified/],
    ['versions are semantic', device({ attributes: { a: { version: '1.2' } } }), /must be a string compatible with semver\.org spec 2\.0\.0$/],
    ['names are identifiers', device({ capacity: { 'a-b': { value: '1' } } }), /a valid C identifier must start with/],
    ['taints have effects', device({ taints: [{ key: 'a', effect: 'Later' }] }), /Unsupported value: "Later"/],
    ['policies are for shared devices', device({ capacity: { a: { value: '1', requestPolicy: {} } } }), /allowMultipleAllocations must be true/],
    [
      'options fit the capacity',
      device({ allowMultipleAllocations: true, capacity: { a: { value: '4', requestPolicy: { default: '3', validValues: ['2', '1', '8'] } } } }),
      /validValues\[1\].*ascending order/,
      /validValues\[2\].*option is larger than capacity value: 4/,
      /default value is not valid according to the requestPolicy/,
    ],
    [
      'ranges fit the capacity',
      device({ allowMultipleAllocations: true, capacity: { a: { value: '4', requestPolicy: { default: '1', validRange: { min: '2', max: '9' } } } } }),
      /default is less than min: 2/,
      /max is larger than capacity value: 4/,
    ],
    ['conditions come in pairs', device({ bindingConditions: ['ready'] }), /bindingFailureConditions are required to use bindingConditions$/],
    ['counters are named', slice({ sharedCounters: [{ name: 'a' }] }), 'FieldValueRequired spec.sharedCounters[0].counters: Required value'],
  ])('%s', (_, raw, ...causes) => {
    expect(refusal(resourceSliceKind, raw)).toEqual(causes.map((cause) => (typeof cause === 'string' ? cause : expect.stringMatching(cause))));
  });

  test('keeps its pool, and drops what Kubernetes 1.36 has switched off', () => {
    const stored = created(resourceSliceKind, device({ attributes: { a: { int: 1, ints: [1] } }, taints: [{ key: 'a', effect: 'None' }] }));
    expect(stored.spec.devices?.[0]).toMatchObject({ attributes: { a: { int: 1 } }, taints: [{ timeAdded: expect.stringMatching(/Z$/) }] });
    const changed = updateRefusal(resourceSliceKind, stored, ({ spec }) => {
      spec.pool.name = 'n2';
    });
    expect(changed).toEqual(['FieldValueInvalid spec.pool.name: Invalid value: "n2": field is immutable']);
  });
});
