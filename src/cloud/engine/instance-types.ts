/** The instance types that the cloud offers: real names, sizes and on-demand prices of us-east-1, and the attach limits of Amazon's documentation. */

export type Architecture = 'arm64' | 'x86_64';

export interface InstanceType {
  /** 'm7g.xlarge' */
  readonly name: string;
  /** 'm7g' */
  readonly family: string;
  /** 'xlarge' */
  readonly size: string;
  readonly architecture: Architecture;
  readonly vcpus: number;
  readonly memoryMiB: number;
  /** Dollars an hour. */
  readonly price: number;
  readonly networkInterfaces: number;
  readonly addressesPerInterface: number;
  readonly attachments: AttachmentLimit;
  readonly hypervisor: 'nitro' | 'xen';
}

/** shared: network interfaces beyond the first one count as well. The root volume always counts. */
export interface AttachmentLimit {
  readonly most: number;
  readonly type: 'dedicated' | 'shared';
}

interface Family {
  readonly name: string;
  readonly architecture: Architecture;
  /** Of one vCPU. */
  readonly memoryGiB: number;
  /** Of one vCPU for an hour. */
  readonly price: number;
  readonly sizes: readonly string[];
  readonly attachments: 'dedicated' | 'shared' | 'xen';
}

const usual = ['large', 'xlarge', '2xlarge', '4xlarge', '8xlarge', '12xlarge', '16xlarge', '24xlarge'];
const graviton = ['medium', 'large', 'xlarge', '2xlarge', '4xlarge', '8xlarge', '12xlarge', '16xlarge'];
const largest = [...usual, '48xlarge'];

const families: readonly Family[] = [
  { name: 'c5', architecture: 'x86_64', memoryGiB: 2, price: 0.0425, sizes: ['large', 'xlarge', '2xlarge', '4xlarge'], attachments: 'shared' },
  { name: 'c6g', architecture: 'arm64', memoryGiB: 2, price: 0.034, sizes: graviton, attachments: 'shared' },
  { name: 'c7g', architecture: 'arm64', memoryGiB: 2, price: 0.03625, sizes: graviton, attachments: 'shared' },
  { name: 'c7i', architecture: 'x86_64', memoryGiB: 2, price: 0.044625, sizes: largest, attachments: 'dedicated' },
  { name: 'm4', architecture: 'x86_64', memoryGiB: 4, price: 0.05, sizes: ['large', 'xlarge', '2xlarge', '4xlarge'], attachments: 'xen' },
  { name: 'm5', architecture: 'x86_64', memoryGiB: 4, price: 0.048, sizes: usual, attachments: 'shared' },
  { name: 'm6g', architecture: 'arm64', memoryGiB: 4, price: 0.0385, sizes: graviton, attachments: 'shared' },
  { name: 'm6i', architecture: 'x86_64', memoryGiB: 4, price: 0.048, sizes: usual, attachments: 'shared' },
  { name: 'm7a', architecture: 'x86_64', memoryGiB: 4, price: 0.05796, sizes: largest, attachments: 'dedicated' },
  { name: 'm7g', architecture: 'arm64', memoryGiB: 4, price: 0.0408, sizes: graviton, attachments: 'shared' },
  { name: 'm7i', architecture: 'x86_64', memoryGiB: 4, price: 0.0504, sizes: largest, attachments: 'dedicated' },
  { name: 'r5', architecture: 'x86_64', memoryGiB: 8, price: 0.063, sizes: ['large', 'xlarge', '2xlarge', '4xlarge'], attachments: 'shared' },
  { name: 'r6g', architecture: 'arm64', memoryGiB: 8, price: 0.0504, sizes: graviton, attachments: 'shared' },
  { name: 'r7g', architecture: 'arm64', memoryGiB: 8, price: 0.05355, sizes: graviton, attachments: 'shared' },
  { name: 'r7i', architecture: 'x86_64', memoryGiB: 8, price: 0.06615, sizes: largest, attachments: 'dedicated' },
];

/** Burstable types do not follow the sizes of the others. */
const burstable: readonly (readonly [name: string, vcpus: number, memoryGiB: number, price: number, interfaces: number, addresses: number])[] = [
  ['t3.medium', 2, 4, 0.0416, 3, 6],
  ['t3.large', 2, 8, 0.0832, 3, 12],
  ['t3.xlarge', 4, 16, 0.1664, 4, 15],
  ['t3.2xlarge', 8, 32, 0.3328, 4, 15],
  ['t4g.medium', 2, 4, 0.0336, 3, 6],
  ['t4g.large', 2, 8, 0.0672, 3, 12],
  ['t4g.xlarge', 4, 16, 0.1344, 4, 15],
  ['t4g.2xlarge', 8, 32, 0.2688, 4, 15],
];

/** vCPUs, network interfaces, addresses of each interface, and volumes of the families with a limit of their own. */
const sizes: Readonly<Record<string, readonly [vcpus: number, interfaces: number, addresses: number, dedicated: number]>> = {
  medium: [1, 2, 4, 32],
  large: [2, 3, 10, 32],
  xlarge: [4, 4, 15, 32],
  '2xlarge': [8, 4, 15, 32],
  '4xlarge': [16, 8, 30, 32],
  '8xlarge': [32, 8, 30, 32],
  '12xlarge': [48, 8, 30, 32],
  '16xlarge': [64, 15, 50, 48],
  '24xlarge': [96, 15, 50, 64],
  '48xlarge': [192, 15, 50, 128],
};

/** Of types on the Nitro system without a limit of their own. */
const sharedLimit = 27;
const xenLimit = 39;

function typesOf({ name: family, architecture, memoryGiB, price, sizes: offered, attachments }: Family): readonly InstanceType[] {
  return offered.flatMap((size) => {
    const shape = sizes[size];
    if (shape === undefined) return [];
    const [vcpus, networkInterfaces, addressesPerInterface, dedicated] = shape;
    return {
      name: `${family}.${size}`,
      family,
      size,
      architecture,
      vcpus,
      memoryMiB: vcpus * memoryGiB * 1024,
      price: rounded(vcpus * price),
      networkInterfaces,
      addressesPerInterface,
      attachments: limitOf(attachments, dedicated),
      hypervisor: attachments === 'xen' ? 'xen' : 'nitro',
    };
  });
}

function limitOf(kind: Family['attachments'], dedicated: number): AttachmentLimit {
  if (kind === 'dedicated') return { most: dedicated, type: 'dedicated' };
  return kind === 'xen' ? { most: xenLimit, type: 'dedicated' } : { most: sharedLimit, type: 'shared' };
}

const rounded = (dollars: number): number => Math.round(dollars * 1e6) / 1e6;

/** By name, in the order of their names. */
export const instanceTypes: ReadonlyMap<string, InstanceType> = new Map(
  [
    ...families.flatMap(typesOf),
    ...burstable.map(([name, vcpus, memoryGiB, price, networkInterfaces, addressesPerInterface]): InstanceType => {
      const [family = '', size = ''] = name.split('.');
      const architecture = family === 't4g' ? 'arm64' : 'x86_64';
      const attachments = { most: sharedLimit, type: 'shared' } as const;
      return {
        name,
        family,
        size,
        architecture,
        vcpus,
        memoryMiB: memoryGiB * 1024,
        price,
        networkInterfaces,
        addressesPerInterface,
        attachments,
        hypervisor: 'nitro',
      };
    }),
  ]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((type) => [type.name, type]),
);

/** How many volumes, the root volume included, an instance of the type with so many network interfaces can have. */
export function mostVolumes({ attachments: { most, type } }: InstanceType, interfaces: number): number {
  return type === 'shared' ? most - Math.max(0, interfaces - 1) : most;
}
