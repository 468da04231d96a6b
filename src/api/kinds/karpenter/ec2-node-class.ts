/** karpenter.k8s.aws/v1 EC2NodeClass: the settings of instances (aws/karpenter-provider-aws, pkg/apis/crds, v1.14). */
import type { Condition, ObjectMeta } from '../../generated/types.ts';
import type { JsonSchema, ValidationRule } from '../../json-schema.ts';
import type { Kind } from '../../kind.ts';
import { ageColumn, column, flag, object, preferredKind, text, topLevel } from '../snapshot/schemas.ts';
import { conditionsSchema, defineKarpenterKind, wideColumn } from './schemas.ts';

export interface EC2NodeClass {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  readonly spec: {
    readonly amiFamily?: string;
    readonly amiSelectorTerms: readonly SelectorTerm[];
    readonly subnetSelectorTerms: readonly SelectorTerm[];
    readonly securityGroupSelectorTerms: readonly SelectorTerm[];
    readonly role?: string;
    readonly instanceProfile?: string;
    readonly tags?: Readonly<Record<string, string>>;
  };
  readonly status?: {
    readonly subnets?: readonly { readonly id: string; readonly zone: string; readonly zoneID?: string }[];
    readonly conditions?: readonly Condition[];
  };
}

interface SelectorTerm {
  readonly id?: string;
  readonly name?: string;
  readonly alias?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

const rule = (expression: string, message: string): ValidationRule => ({ rule: expression, message });
const tagsOf = (description: string): JsonSchema => ({
  type: 'object',
  description,
  additionalProperties: { type: 'string' },
  maxProperties: 20,
  'x-kubernetes-validations': [rule("self.all(k, k != '' && self[k] != '')", "empty tag keys or values aren't supported")],
});
const choice = (description: string, values: readonly string[], fallback?: string): JsonSchema => ({
  ...text(description),
  enum: [...values],
  ...(fallback === undefined ? {} : { default: fallback }),
});
const whole = (description: string, minimum: number, maximum?: number): JsonSchema => ({
  type: 'integer',
  description,
  minimum,
  ...(maximum === undefined ? {} : { maximum }),
});

interface Terms {
  readonly description: string;
  readonly properties: Record<string, JsonSchema>;
  readonly rules: readonly ValidationRule[];
  readonly minItems?: number;
}

const terms = ({ description, properties, rules, minItems }: Terms): JsonSchema => ({
  type: 'array',
  description,
  maxItems: 30,
  ...(minItems === undefined ? {} : { minItems }),
  items: object({ description: 'A term; the terms are alternatives.', properties }),
  'x-kubernetes-validations': [...rules],
});

const families = ['al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025'];
const quotedFamilies = families.map((family) => `'${family}'`);
const windows = "['windows2019','windows2022','windows2025']";

const amiTerms = terms({
  description: 'The images of instances.',
  minItems: 1,
  properties: {
    alias: {
      ...text('family@version', [
        rule("self.matches('^[a-zA-Z0-9]+@.+$')", "'alias' is improperly formatted, must match the format 'family@version'"),
        rule(`self.split('@')[0] in [${quotedFamilies.join(',')}]`, `family is not supported, must be one of the following: ${quotedFamilies.join(', ')}`),
        rule(`self.split('@')[0] in ${windows} ? self.split('@')[1] == 'latest' : true`, "windows families may only specify version 'latest'"),
      ]),
      maxLength: 30,
    },
    id: { ...text('The id of an image.'), pattern: 'ami-[0-9a-z]+' },
    name: text('The name of an image.'),
    owner: text('The owner of an image.'),
    ssmParameter: text('The SSM parameter that has the id of an image.'),
    tags: tagsOf('Tags of images.'),
  },
  rules: [
    rule(
      'self.all(x, has(x.tags) || has(x.id) || has(x.name) || has(x.alias) || has(x.ssmParameter))',
      "expected at least one, got none, ['tags', 'id', 'name', 'alias', 'ssmParameter']",
    ),
    rule(
      '!self.exists(x, has(x.id) && (has(x.alias) || has(x.tags) || has(x.name) || has(x.owner)))',
      "'id' is mutually exclusive, cannot be set with a combination of other fields in amiSelectorTerms",
    ),
    rule(
      '!self.exists(x, has(x.alias) && (has(x.id) || has(x.tags) || has(x.name) || has(x.owner)))',
      "'alias' is mutually exclusive, cannot be set with a combination of other fields in amiSelectorTerms",
    ),
    rule('!(self.exists(x, has(x.alias)) && self.size() != 1)', "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms"),
  ],
});

const subnetTerms = terms({
  description: 'The subnets of instances: they determine the zones.',
  properties: { id: { ...text('The id of a subnet.'), pattern: 'subnet-[0-9a-z]+' }, tags: tagsOf('Tags of subnets.') },
  rules: [
    rule('self.size() != 0', 'subnetSelectorTerms cannot be empty'),
    rule('self.all(x, has(x.tags) || has(x.id))', "expected at least one, got none, ['tags', 'id']"),
    rule('!self.all(x, has(x.id) && has(x.tags))', "'id' is mutually exclusive, cannot be set with a combination of other fields in a subnet selector term"),
  ],
});

const exclusiveGroupTerm = (field: string, others: string): ValidationRule =>
  rule(
    `!self.all(x, has(x.${field}) && (${others}))`,
    `'${field}' is mutually exclusive, cannot be set with a combination of other fields in a security group selector term`,
  );

const securityGroupTerms = terms({
  description: 'The security groups of instances.',
  properties: {
    id: { ...text('The id of a security group.'), pattern: 'sg-[0-9a-z]+' },
    name: text('The name of a security group.'),
    tags: tagsOf('Tags of security groups.'),
  },
  rules: [
    rule('self.size() != 0', 'securityGroupSelectorTerms cannot be empty'),
    rule('self.all(x, has(x.tags) || has(x.id) || has(x.name))', "expected at least one, got none, ['tags', 'id', 'name']"),
    exclusiveGroupTerm('id', 'has(x.tags) || has(x.name)'),
    exclusiveGroupTerm('name', 'has(x.tags) || has(x.id)'),
  ],
});

const blockDevices: JsonSchema = {
  type: 'array',
  description: 'The volumes that an instance starts with. Each takes one of its attachments.',
  maxItems: 50,
  items: object({
    properties: {
      deviceName: text('/dev/xvda'),
      rootVolume: flag('Whether the volume is the root volume.'),
      ebs: object({
        properties: {
          deleteOnTermination: flag('Whether the volume goes with the instance.'),
          encrypted: flag('Whether the volume is encrypted.'),
          iops: { type: 'integer', format: 'int64' },
          kmsKeyID: text('The key of the encryption.'),
          snapshotID: text('The snapshot that the volume is made of.'),
          throughput: { type: 'integer', format: 'int64' },
          volumeInitializationRate: whole('MiB/s', 100, 300),
          volumeSize: text('20Gi'),
          volumeType: choice('The type of the volume.', ['standard', 'io1', 'io2', 'gp2', 'sc1', 'st1', 'gp3']),
        },
        rules: [
          rule('has(self.snapshotID) || has(self.volumeSize)', 'snapshotID or volumeSize must be defined'),
          rule(
            "!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')",
            'snapshotID must be set when volumeInitializationRate is set',
          ),
        ],
      }),
    },
  }),
  'x-kubernetes-validations': [
    rule('self.filter(x, has(x.rootVolume)?x.rootVolume==true:false).size() <= 1', 'must have only one blockDeviceMappings with rootVolume'),
  ],
};

const onOff = ['enabled', 'disabled'];
const metadataDefaults = { httpEndpoint: 'enabled', httpProtocolIPv6: 'disabled', httpPutResponseHopLimit: 1, httpTokens: 'required' };
const metadataOptions: JsonSchema = {
  ...object({
    description: 'The metadata service of instances.',
    properties: {
      httpEndpoint: choice('Whether there is one.', onOff, metadataDefaults.httpEndpoint),
      httpProtocolIPv6: choice('Whether it has an IPv6 address.', onOff, metadataDefaults.httpProtocolIPv6),
      httpPutResponseHopLimit: { ...whole('How far its answers go.', 1, 64), default: metadataDefaults.httpPutResponseHopLimit },
      httpTokens: choice('Whether a token is needed.', ['required', 'optional'], metadataDefaults.httpTokens),
    },
  }),
  default: metadataDefaults,
};

const restrictedTag = (test: string, tag: string): ValidationRule => rule(`self.all(k, ${test})`, `tag contains a restricted tag matching ${tag}`);
const tags: JsonSchema = {
  type: 'object',
  description: 'Tags of instances and their volumes.',
  additionalProperties: { type: 'string' },
  'x-kubernetes-validations': [
    rule("self.all(k, k != '')", "empty tag keys aren't supported"),
    restrictedTag("k !='eks:eks-cluster-name'", 'eks:eks-cluster-name'),
    restrictedTag("!k.startsWith('kubernetes.io/cluster')", 'kubernetes.io/cluster/'),
    restrictedTag("k != 'karpenter.sh/nodepool'", 'karpenter.sh/nodepool'),
    restrictedTag("k !='karpenter.sh/nodeclaim'", 'karpenter.sh/nodeclaim'),
    restrictedTag("k !='karpenter.k8s.aws/ec2nodeclass'", 'karpenter.k8s.aws/ec2nodeclass'),
  ],
};

const amiFamilies = ['AL2', 'AL2023', 'Bottlerocket', 'Windows2019', 'Windows2022', 'Windows2025'];
const familyOfAlias = (family: string): ValidationRule => {
  const alias = family.toLowerCase();
  const article = family.startsWith('AL2') ? 'an' : 'a';
  return rule(
    `!has(self.amiFamily) || (self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.find('^[^@]+') == '${alias}') ? (self.amiFamily == 'Custom' || self.amiFamily == '${family}') : true)`,
    `if set, amiFamily must be '${family}' or 'Custom' when using ${article} ${family} alias`,
  );
};

/** The cloud has nothing of the kind. A field that is not in the schema would be pruned, and instances launched without it. */
const refused = (field: string, type: JsonSchema): JsonSchema => ({
  ...type,
  description: 'Not supported.',
  'x-kubernetes-validations': [rule('false', `${field} is not supported: instances would be launched without it`)],
});
const anyObject: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const anyObjects: JsonSchema = { type: 'array', items: anyObject };
const refusedFields: Record<string, JsonSchema> = {
  capacityReservationSelectorTerms: refused('capacityReservationSelectorTerms', anyObjects),
  connectionTracking: refused('connectionTracking', anyObject),
  cpuOptions: refused('cpuOptions', anyObject),
  ipPrefixCount: refused('ipPrefixCount', { type: 'integer' }),
  networkInterfaces: refused('networkInterfaces', anyObjects),
  placementGroupSelector: refused('placementGroupSelector', anyObject),
};

const notEmpty = (field: string): readonly ValidationRule[] => [rule("self != ''", `${field} cannot be empty`)];

const specSchema: JsonSchema = object({
  description: 'The settings of instances.',
  properties: {
    amiFamily: choice('How an instance joins the cluster.', [...amiFamilies, 'Custom']),
    amiSelectorTerms: amiTerms,
    associatePublicIPAddress: flag('Whether instances have a public address.'),
    blockDeviceMappings: blockDevices,
    ...refusedFields,
    context: text('Reserved by EC2.'),
    detailedMonitoring: flag('Whether instances are monitored in detail.'),
    instanceProfile: text('The instance profile.', notEmpty('instanceProfile')),
    instanceStorePolicy: choice('What becomes of the disks of the instance itself.', ['RAID0']),
    kubelet: { type: 'object', description: 'Settings of the kubelet.', 'x-kubernetes-preserve-unknown-fields': true },
    metadataOptions,
    role: text('The role of instances.', notEmpty('role')),
    securityGroupSelectorTerms: securityGroupTerms,
    subnetSelectorTerms: subnetTerms,
    tags,
    userData: text('The user data of instances.'),
  },
  required: ['amiSelectorTerms', 'securityGroupSelectorTerms', 'subnetSelectorTerms'],
  rules: [
    rule(
      '(has(self.role) && !has(self.instanceProfile)) || (!has(self.role) && has(self.instanceProfile))',
      "must specify exactly one of ['role', 'instanceProfile']",
    ),
    ...amiFamilies.map(familyOfAlias),
    rule('self.amiSelectorTerms.exists(x, has(x.alias)) ? true : has(self.amiFamily)', 'must specify amiFamily if amiSelectorTerms does not contain an alias'),
  ],
});

export const ec2NodeClassDefinition = defineKarpenterKind({
  group: 'karpenter.k8s.aws',
  kind: 'EC2NodeClass',
  shortNames: ['ec2nc', 'ec2ncs'],
  columns: [column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'), ageColumn, wideColumn('Role', 'string', '.spec.role')],
  schema: topLevel(
    'The settings of the instances of NodePools.',
    {
      spec: specSchema,
      status: object({
        description: 'What the terms select.',
        properties: {
          conditions: conditionsSchema,
          subnets: {
            type: 'array',
            description: 'The subnets that the terms select.',
            items: object({ properties: { id: text('Its id.'), zone: text('Its zone.'), zoneID: text('The id of its zone.') }, required: ['id', 'zone'] }),
          },
        },
      }),
    },
    [],
  ),
});

export const ec2NodeClassKind: Kind<EC2NodeClass> = preferredKind(ec2NodeClassDefinition);
