import { describe, expect, it } from 'vitest';
import { typeLines } from '../generated/schema.ts';
import { hasType, typeNameOf, typeSchema } from './type-schema.ts';

describe('types', () => {
  it('every type parses, and refers only to types that exist', () => {
    for (const name of Object.keys(typeLines)) {
      for (const { type } of typeSchema(name).fields) {
        const inner = type.type === 'list' || type.type === 'map' ? type.of : type;
        if (inner.type === 'struct') expect(hasType(inner.name), inner.name).toBe(true);
      }
    }
  });

  it('a field has all that patching, printing and protobuf need', () => {
    expect(typeSchema('PodSpec').byName.get('volumes')).toMatchObject({
      type: { type: 'list', go: '[]v1.Volume', of: { type: 'struct', name: 'Volume' } },
      omitEmpty: true,
      optional: true,
      patchStrategies: ['merge', 'retainKeys'],
      patchMergeKey: 'name',
      listType: 'map',
      listMapKeys: ['name'],
      number: 1,
    });
    expect(typeSchema('PersistentVolumeSpec').byName.get('hostPath')).toMatchObject({ type: { pointer: true, name: 'HostPathVolumeSource' } });
  });

  it('names that come from clients find nothing', () => {
    expect(hasType('constructor')).toBe(false);
    expect(typeNameOf('v1', '__proto__')).toBeUndefined();
    expect(() => typeSchema('toString')).toThrow('the schema has no type toString');
  });
});

describe('kinds', () => {
  it.each([
    ['v1', 'Pod', 'Pod'],
    ['events.k8s.io/v1', 'Event', 'EventsEvent'],
    ['v1', 'Event', 'Event'],
    ['authentication.k8s.io/v1', 'TokenRequest', 'TokenRequest'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRoleList', 'ClusterRoleList'],
    ['apps/v1', 'DeleteOptions', 'DeleteOptions'],
    ['meta.k8s.io/v1', 'Table', 'Table'],
    ['v1', 'Table', undefined],
    ['apps/v1', 'Pod', undefined],
    ['v1', 'PodSpec', undefined],
    ['v2', 'Pod', undefined],
  ])('%s %s is %s', (apiVersion, kind, type) => {
    expect(typeNameOf(apiVersion, kind)).toBe(type);
  });
});
