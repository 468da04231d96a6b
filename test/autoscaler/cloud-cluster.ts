/** A cluster in a cloud, with the autoscaler, on virtual time; and what kubectl would print of it. */
import { loadCel } from '../../src/api/cel/environment.ts';
import type { Event, Node } from '../../src/api/generated/types.ts';
import type { Kind } from '../../src/api/kind.ts';
import { eventKind } from '../../src/api/kinds/core/event.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { ec2NodeClassKind } from '../../src/api/kinds/karpenter/ec2-node-class.ts';
import { type NodePool, nodePoolKind } from '../../src/api/kinds/karpenter/node-pool.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { Authorizer } from '../../src/apiserver/authorization/authorizer.ts';
import type { Draft } from '../../src/client/client.ts';
import type { Cloud } from '../../src/cloud/engine/cloud.ts';
import { ok } from '../../src/sim/cluster/simulated-cluster.ts';
import { driverOf } from '../../src/sim/scenario/language/read-cluster.ts';
import { hostsOf } from '../../src/sim/scenario/hosts.ts';
import { ScenarioCluster } from '../../src/sim/scenario/scenario-cluster.ts';
import { simulate, type SimulatedWorld } from '../../src/sim/world/world.ts';

export const ebs = 'ebs.csi.aws.com';

/** Long enough for all caches to be filled. */
const startMs = 3_000;

/** Two nodes for the cluster's own pods, as a managed node group has them: workloads do not tolerate their taint. */
const systemNodes = hostsOf(
  { region: 'eu-west-2', drivers: [] },
  ['system-1', 'system-2'].map((name) => ({ name, zone: 'eu-west-2a', labels: {}, taints: [], capacity: {}, attachLimit: undefined })),
).map((host) => ({ ...host, taints: [{ key: 'CriticalAddonsOnly', effect: 'NoSchedule' }] }));

export interface DescribedEvent {
  readonly type: string;
  readonly reason: string;
  readonly from: string;
  readonly message: string;
  /** Since 1970. */
  readonly second: number;
}

export class CloudCluster {
  readonly cluster: ScenarioCluster;
  readonly world: SimulatedWorld;
  readonly cloud: Cloud;
  /** Calls of the volume driver, in order. */
  readonly calls: readonly string[];

  constructor(cluster: ScenarioCluster, calls: readonly string[]) {
    if (cluster.cloud === undefined) throw new Error('the cluster is in no cloud');
    this.cluster = cluster;
    this.world = cluster.world;
    this.cloud = cluster.cloud;
    this.calls = calls;
  }

  get client() {
    return this.cluster.client;
  }

  async apply<T extends KubeObject>(kind: Kind<T>, object: Draft<T>): Promise<void> {
    ok(await this.client.create(kind, object));
  }

  async list<T extends KubeObject>(kind: Kind<T>): Promise<readonly T[]> {
    return ok(await this.client.list(kind)).items;
  }

  /** Until the condition holds; the virtual time that it took, in seconds. */
  async until(what: string, condition: () => Promise<boolean>, mostSeconds = 600): Promise<number> {
    const begin = this.world.clock.monotonic();
    const seconds = () => (this.world.clock.monotonic() - begin) / 1000;
    while (!(await condition())) {
      if (seconds() > mostSeconds) throw new Error(`${what}: it did not happen in ${mostSeconds} seconds`);
      await this.world.sleep(500);
    }
    return seconds();
  }

  /** The nodes that the autoscaler launched. */
  async launched(): Promise<readonly Node[]> {
    return (await this.list(nodeKind)).filter(({ metadata }) => metadata.labels?.['karpenter.sh/nodepool'] !== undefined);
  }

  /** `kubectl get nodes -L …`: the values of these labels. */
  async nodes(...columns: readonly string[]): Promise<readonly (readonly string[])[]> {
    return (await this.launched()).map(({ metadata }) => columns.map((label) => metadata.labels?.[label] ?? ''));
  }

  async onlyNode(): Promise<Node> {
    const [node, ...others] = await this.launched();
    if (node === undefined || others.length > 0) throw new Error(`there are ${others.length + (node === undefined ? 0 : 1)} nodes`);
    return node;
  }

  /** As `kubectl describe` lists them: by the time that they happened first. */
  async events(kind: string, name: string): Promise<readonly DescribedEvent[]> {
    return (await this.list(eventKind))
      .filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name)
      .toSorted((a, b) => firstTime(a) - firstTime(b))
      .map((event) => {
        const { reason = '', message = '', type = '', source, reportingComponent } = event;
        return { reason, message, type, from: source?.component ?? reportingComponent, second: Math.floor(firstTime(event) / 1000) };
      });
  }

  runningInstances(): readonly string[] {
    return [...this.cloud.state.instances.values()].filter(({ state }) => state === 'pending' || state === 'running').map(({ id }) => id);
  }
}

const firstTime = ({ firstTimestamp, eventTime }: Event): number => Date.parse(eventTime ?? firstTimestamp ?? '');

export const nodeClass = {
  metadata: { name: 'default' },
  spec: {
    role: 'karpenter-node',
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'test' } }],
    securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'test' } }],
  },
};

/** The NodePool `default`. */
export const nodePool = (
  spec: Draft<NodePool['spec']> = {},
  requirements: Draft<NodePool['spec']['template']['spec']['requirements']> = [],
): Draft<NodePool> => ({
  metadata: { name: 'default' },
  spec: {
    disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '30s' },
    ...spec,
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
        requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'] }, ...requirements],
      },
    },
  },
});

export interface CloudClusterOptions {
  readonly seed?: number;
  readonly pool?: Draft<NodePool>;
  readonly authorizer?: Authorizer;
}

/** A cluster of the region eu-west-2 with two nodes for its own pods, and with an EC2NodeClass and a NodePool `default`. */
export async function inCloud(
  test: (cluster: CloudCluster) => Promise<void>,
  { seed = 1, pool = nodePool(), authorizer }: CloudClusterOptions = {},
): Promise<void> {
  // Real time passes while a module is loaded: not within a simulation.
  await loadCel();
  await simulate(seed, async (world) => {
    const calls: string[] = [];
    const onBackendCall = ({ call, failure }: { readonly call: string; readonly failure?: unknown }) =>
      void calls.push(failure === undefined ? call : `${call} failed`);
    const built = await ScenarioCluster.build(world, {
      hosts: systemNodes,
      drivers: [driverOf(ebs)],
      cloud: { region: 'eu-west-2' },
      onBackendCall,
      ...(authorizer === undefined ? {} : { authorizer }),
    });
    built.start();
    const cluster = new CloudCluster(built, calls);
    await world.sleep(startMs);
    await cluster.apply(ec2NodeClassKind, nodeClass);
    await cluster.apply(nodePoolKind, pool);
    await test(cluster);
  });
}
