/** The regions that a cloud can be, with their zones. One cloud is one region, as one endpoint of EC2 is. */

export interface Region {
  readonly name: string;
  readonly zones: readonly Zone[];
}

export interface Zone {
  /** 'us-west-2a' */
  readonly name: string;
  /** 'usw2-az1': the same place for every account, which the letters are not. */
  readonly id: string;
}

/** The number of a zone's id behind each letter, as one account may have them. */
const numbers: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'ap-northeast-1': { a: 4, c: 1, d: 2 },
  'ap-south-1': { a: 1, b: 3, c: 2 },
  'ap-southeast-1': { a: 1, b: 2, c: 3 },
  'eu-central-1': { a: 2, b: 3, c: 1 },
  'eu-west-1': { a: 1, b: 2, c: 3 },
  'eu-west-2': { a: 2, b: 3, c: 1 },
  'us-east-1': { a: 1, b: 2, c: 4, d: 6, e: 3, f: 5 },
  'us-east-2': { a: 1, b: 2, c: 3 },
  'us-west-1': { a: 3, b: 1 },
  'us-west-2': { a: 1, b: 2, c: 3, d: 4 },
};

const directions: Readonly<Record<string, string>> = { central: 'c', east: 'e', northeast: 'ne', south: 's', southeast: 'se', west: 'w' };

/** 'us-west-2' → 'usw2' */
const abbreviated = (region: string): string => {
  const [continent = '', direction = '', number = ''] = region.split('-');
  return `${continent}${directions[direction] ?? direction}${number}`;
};

export const regions: ReadonlyMap<string, Region> = new Map(
  Object.entries(numbers).map(([name, zones]) => [
    name,
    { name, zones: Object.entries(zones).map(([letter, number]) => ({ name: `${name}${letter}`, id: `${abbreviated(name)}-az${number}` })) },
  ]),
);

/** The private DNS name of an address: 'ip-10-0-52-243.eu-west-2.compute.internal'. */
export const privateDnsName = (address: string, region: string): string =>
  `ip-${address.replaceAll('.', '-')}.${region === 'us-east-1' ? 'ec2.internal' : `${region}.compute.internal`}`;
