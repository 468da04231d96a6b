import { expect, test } from 'vitest';
import { accountId, freeAddress, imagesOf, securityGroupId, subnetsOf, vpcCidr, vpcId } from './network.ts';
import { privateDnsName, regions } from './regions.ts';

const all = [...regions.values()];

test('every zone has a subnet of the VPC, and no two ids are the same', () => {
  const ids = all.flatMap((region) => [
    vpcId(region),
    securityGroupId(region),
    ...subnetsOf(region).map(({ id }) => id),
    ...imagesOf(region).map(({ id }) => id),
  ]);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^(vpc|sg|subnet|ami)-[0-9a-f]{17}$/);
  for (const region of all) expect(new Set(subnetsOf(region).map(({ cidr }) => cidr)).size).toBe(region.zones.length);
  expect(vpcCidr).toBe('10.0.0.0/16');
  expect(accountId).toMatch(/^\d{12}$/);
});

test('a subnet gives each of its addresses once', () => {
  const [, subnet] = subnetsOf(all[0] ?? expect.unreachable());
  if (subnet === undefined) return expect.unreachable();
  const used = new Set<string>();
  for (
    let address = freeAddress(
      subnet,
      (each) => used.has(each),
      () => 0.5,
    );
    address !== undefined;
  ) {
    used.add(address);
    address =
      used.size < 100
        ? freeAddress(
            subnet,
            (each) => used.has(each),
            () => 0.5,
          )
        : undefined;
  }
  expect(used.size).toBe(100);
  expect(
    freeAddress(
      subnet,
      () => true,
      () => 0,
    ),
  ).toBeUndefined();
});

test('names of addresses', () => {
  expect(privateDnsName('10.0.52.243', 'eu-west-2')).toBe('ip-10-0-52-243.eu-west-2.compute.internal');
  expect(privateDnsName('10.0.52.243', 'us-east-1')).toBe('ip-10-0-52-243.ec2.internal');
});
