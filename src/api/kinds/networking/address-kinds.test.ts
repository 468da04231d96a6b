import { describe, expect, test } from 'vitest';
import { created, NOW, type Raw, refusal, row, updateRefusal } from '../try-kind.ts';
import { ipAddressKind } from './ip-address.ts';
import { serviceCidrKind } from './service-cidr.ts';

describe('an IPAddress', () => {
  const address = (name: string, parentRef: Raw | undefined = { resource: 'services', namespace: 'default', name: 'web' }): Raw => ({
    metadata: { name },
    spec: parentRef === undefined ? {} : { parentRef },
  });

  test('has the address as its name, in the one form', () => {
    for (const name of ['10.96.0.1', '255.255.255.255', 'fe80::42:1dff:fe84:f9e2']) expect(refusal(ipAddressKind, address(name))).toEqual([]);
    expect(refusal(ipAddressKind, address('10.0.0.01'))).toEqual(['FieldValueInvalid metadata.name: Invalid value: "10.0.0.01": must not have leading 0s']);
    expect(refusal(ipAddressKind, address('FE80::1'))).toEqual([
      'FieldValueInvalid metadata.name: Invalid value: "FE80::1": must be in canonical form ("fe80::1")',
    ]);
    expect(refusal(ipAddressKind, address('web'))).toEqual([
      'FieldValueInvalid metadata.name: Invalid value: "web": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ]);
  });

  test('has a parent, which stays', () => {
    expect(refusal(ipAddressKind, { metadata: { name: '10.0.0.1' }, spec: {} })).toEqual(['FieldValueRequired spec.parentRef: Required value']);
    expect(refusal(ipAddressKind, address('10.0.0.1', { group: 'No', name: 'a/b' }))).toEqual([
      expect.stringContaining('FieldValueInvalid spec.parentRef.group: Invalid value: "No"'),
      'FieldValueRequired spec.parentRef.resource: Required value',
      `FieldValueInvalid spec.parentRef.name: Invalid value: "a/b": may not contain '/'`,
    ]);
    const moved = updateRefusal(ipAddressKind, created(ipAddressKind, address('10.0.0.1')), ({ spec }) => {
      spec.parentRef = { resource: 'services', namespace: 'default', name: 'other' };
    });
    expect(moved).toEqual([expect.stringMatching(/^FieldValueInvalid spec\.parentRef: .*field is immutable$/)]);
  });

  test('is printed with its parent', () => {
    expect(row(ipAddressKind, created(ipAddressKind, address('10.0.0.1')))).toMatchObject({ Name: '10.0.0.1', ParentRef: 'services/default/web' });
  });
});

describe('a ServiceCIDR', () => {
  const range = (...cidrs: string[]): Raw => ({ metadata: { name: 'more' }, spec: { cidrs } });

  test('has one range of each family at most', () => {
    for (const cidrs of [['10.0.0.0/24'], ['10.0.0.0/24', 'fd00::/64']]) expect(refusal(serviceCidrKind, range(...cidrs))).toEqual([]);
    expect(refusal(serviceCidrKind, range())).toEqual(['FieldValueRequired spec.cidrs: Required value: at least one CIDR required']);
    expect(refusal(serviceCidrKind, range('a', 'b', 'c'))).toEqual([
      'FieldValueInvalid spec.cidrs: Invalid value: {"CIDRs":["a","b","c"]}: may only hold up to 2 values',
    ]);
    expect(refusal(serviceCidrKind, range('10.0.0.1/24', 'FD00::/64'))).toEqual([
      'FieldValueInvalid spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
      'FieldValueInvalid spec.cidrs[1]: Invalid value: "FD00::/64": must be in canonical form ("fd00::/64")',
    ]);
    expect(refusal(serviceCidrKind, range('10.0.0.0/24', '10.0.1.0/24'))).toEqual([
      expect.stringContaining('may specify no more than one IP for each IP family'),
    ]);
  });

  test('keeps its range; a second family may be added', () => {
    const change = (cidrs: string[]): string[] =>
      updateRefusal(serviceCidrKind, created(serviceCidrKind, range('10.0.0.0/24')), ({ spec }) => {
        spec.cidrs = cidrs;
      });
    expect(change(['10.0.0.0/24', 'fd00::/64'])).toEqual([]);
    expect(change(['10.0.1.0/24'])).toEqual(['FieldValueInvalid spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable']);
    expect(change([])).toEqual(['FieldValueInvalid spec.cidrs: Invalid value: []: field is immutable']);
  });

  test('is ready at once', () => {
    const { status } = created(serviceCidrKind, range('10.0.0.0/24'));
    expect(status.conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
    expect(Date.parse(status.conditions?.[0]?.lastTransitionTime ?? '')).toBe(NOW - (NOW % 1000));
  });
});
