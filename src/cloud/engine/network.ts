/** The default VPC: one subnet and one image for each zone and architecture. Their ids follow from the region, so that they outlive every state. */
import type { Architecture } from './instance-types.ts';
import type { Region } from './regions.ts';

export interface Subnet {
  readonly id: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly cidr: string;
  /** Of its third byte. */
  readonly first: number;
}

export interface Image {
  readonly id: string;
  readonly name: string;
  readonly architecture: Architecture;
  readonly createTime: string;
}

/** 17 hexadecimal digits that follow from a text: FNV-1a, twice. */
function digits(text: string): string {
  const hash = (seed: number): string => {
    let value = seed;
    for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16_777_619) >>> 0;
    return value.toString(16).padStart(8, '0');
  };
  return `0${hash(2_166_136_261)}${hash(3_333_333_333)}`;
}

export const vpcCidr = '10.0.0.0/16';
export const vpcId = ({ name }: Region): string => `vpc-${digits(name)}`;
export const securityGroupId = ({ name }: Region): string => `sg-${digits(`${name} default`)}`;
export const accountId = '123456789012';

/** Addresses of a third byte: 32 × 256 for each of up to eight zones. */
const blocks = 32;

export const subnetsOf = ({ zones }: Region): readonly Subnet[] =>
  zones.map(({ name: zone, id: zoneId }, i) => ({
    id: `subnet-${digits(zone)}`,
    zone,
    zoneId,
    cidr: `10.0.${i * blocks}.0/19`,
    first: i * blocks,
  }));

export const imagesOf = ({ name }: Region): readonly Image[] =>
  (['arm64', 'x86_64'] as const).map((architecture) => ({
    id: `ami-${digits(`${name} ${architecture}`)}`,
    name: `amazon-eks-node-al2023-${architecture}-standard-1.36-v20261101`,
    architecture,
    createTime: '2026-11-01T00:00:00.000Z',
  }));

/** An address of the subnet that is not used; undefined: there is none left. */
export function freeAddress({ first }: Subnet, isUsed: (address: string) => boolean, random: () => number): string | undefined {
  // Of each block of 256 the first four and the last address are the subnet's own.
  const [hosts, total] = [250, blocks * 250];
  const start = Math.floor(random() * total);
  for (let i = 0; i < total; i++) {
    const index = (start + i) % total;
    const address = `10.0.${first + Math.floor(index / hosts)}.${4 + (index % hosts)}`;
    if (!isUsed(address)) return address;
  }
  return undefined;
}
