import { expect, test } from 'vitest';
import { discoveredVersion } from './remote-discovery.ts';

const at = { group: 'example.com', version: 'v1' };
const from = (value: unknown) => discoveredVersion(at, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

test('resources with their subresources', () => {
  const resources = [
    { name: 'boats', singularName: 'boat', namespaced: true, kind: 'Boat', verbs: ['get', 'list'], shortNames: ['bt'] },
    { name: 'boats/scale', singularName: '', namespaced: true, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
    { name: 'boatsheds', singularName: 'boatshed', namespaced: false, kind: 'Boatshed', verbs: ['get'] },
  ];
  const empty = { shortNames: [], categories: [], storageVersionHash: '' };
  expect(from({ kind: 'APIResourceList', resources })).toEqual({
    ...at,
    resources: [
      {
        ...empty,
        name: 'boats',
        singular: 'boat',
        namespaced: true,
        kind: 'Boat',
        verbs: ['get', 'list'],
        shortNames: ['bt'],
        subresources: [{ name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: ['get'] }],
      },
      { ...empty, name: 'boatsheds', singular: 'boatshed', namespaced: false, kind: 'Boatshed', verbs: ['get'], subresources: [] },
    ],
  });
});

test.each(['', 'null', '[]', '{"resources":7}', '{"resources":[null,{"name":"x"},{"name":{},"kind":"X"},{"name":"","kind":"X"}]}'])(
  'nothing is taken from %s',
  (body) => {
    expect(from(body)).toEqual({ ...at, resources: [] });
  },
);
