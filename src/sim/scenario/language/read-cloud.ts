/** The cloud of a scenario, and its NodePools in a short form. */
import type { EC2NodeClass } from '../../../api/kinds/karpenter/ec2-node-class.ts';
import type { NodePool } from '../../../api/kinds/karpenter/node-pool.ts';
import { regions } from '../../../cloud/engine/regions.ts';
import type { LocatedYaml } from './located-yaml.ts';
import { readTaint, textsOf } from './read-values.ts';
import type { CloudPlan } from './scenario.ts';

const usualRegion = 'eu-west-2';
const mostSystemNodes = 10;

/** 'aws', or { region: eu-west-2, nodes: 1 }. @throws ScenarioFileError */
export function readCloud(written: LocatedYaml): CloudPlan {
  if (!written.isMap) {
    if (written.text() !== 'aws') throw written.error(`there is no cloud "${written.text()}"; there is aws`);
    return { region: usualRegion };
  }
  const { region, nodes } = written.fields(['region', 'nodes']);
  const name = region?.text() ?? usualRegion;
  if (!regions.has(name)) throw (region ?? written).error(`there is no region "${name}"; there are ${[...regions.keys()].join(', ')}`);
  return { region: name, systemNodes: nodes?.integer(0, mostSystemNodes) };
}

/** What every NodePool of the short form refers to. */
export const usualNodeClass: EC2NodeClass = {
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name: 'default' },
  spec: {
    role: 'karpenter-node',
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'simulation' } }],
    securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'simulation' } }],
  },
};

const requirementKeys = {
  capacityTypes: 'karpenter.sh/capacity-type',
  families: 'karpenter.k8s.aws/instance-family',
  instanceTypes: 'node.kubernetes.io/instance-type',
  zones: 'topology.kubernetes.io/zone',
} as const;

/** The usual fields; a NodePool among the objects can have all of them. @throws ScenarioFileError */
export function readNodePool(written: LocatedYaml): NodePool {
  const fields = written.fields(['name', 'capacityTypes', 'families', 'instanceTypes', 'zones', 'startupTaints', 'limits', 'consolidateAfter', 'expireAfter']);
  const requirements = Object.entries(requirementKeys).flatMap(([field, key]) => {
    const values = fields[field as keyof typeof requirementKeys]?.items().map((value) => value.text());
    return values === undefined ? [] : [{ key, operator: 'In' as const, values }];
  });
  const { startupTaints, limits, consolidateAfter, expireAfter } = fields;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: fields.name?.text() ?? 'default' },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: usualNodeClass.metadata.name ?? '' },
          requirements,
          ...(startupTaints === undefined ? {} : { startupTaints: startupTaints.items().map(readTaint) }),
          ...(expireAfter === undefined ? {} : { expireAfter: expireAfter.text() }),
        },
      },
      disruption: { consolidateAfter: consolidateAfter?.text() ?? '30s' },
      ...(limits === undefined ? {} : { limits: textsOf(limits) }),
    },
  };
}
