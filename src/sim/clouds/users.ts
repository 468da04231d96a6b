import { deploymentKind } from '../../api/kinds/apps/deployment.ts';
import { statefulSetKind } from '../../api/kinds/apps/stateful-set.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { nodePoolKind } from '../../api/kinds/karpenter/node-pool.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { podDisruptionBudgetKind } from '../../api/kinds/policy/pod-disruption-budget.ts';
import { type Kind, untypedKind } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Ref, Result } from '../../client/client.ts';
import type { ScenarioCluster } from '../scenario/scenario-cluster.ts';
import { budgetObject, deploymentObject, setObject, sharedClaim } from './objects.ts';
import type { UserAction, WorkloadPlan } from './plan.ts';

const namespace = 'default';
const workloadKinds = [untypedKind(statefulSetKind), untypedKind(deploymentKind)];
const createdKinds = [...workloadKinds, untypedKind(podDisruptionBudgetKind), untypedKind(persistentVolumeClaimKind), untypedKind(nodePoolKind)];
/** A user tries so often while the server is down. */
const attempts = 300;

/** The users of a cloud world. */
export class CloudUsers {
  readonly #cluster: ScenarioCluster;

  constructor(cluster: ScenarioCluster) {
    this.#cluster = cluster;
  }

  async act(action: UserAction): Promise<void> {
    switch (action.do) {
      case 'create':
        return this.#create(action);
      case 'scale':
        return this.#scale(action.name, action.replicas);
      case 'remove':
        return this.#remove(action.name);
      case 'delete pod':
        return this.#deleteOne(untypedKind(podKind), action.number);
      case 'delete node':
        return this.#deleteOne(untypedKind(nodeKind), action.number);
      case 'delete node claim':
        return this.#deleteOne(untypedKind(nodeClaimKind), action.number);
      case 'cordon': {
        const name = this.#nth(untypedKind(nodeKind), action.number)?.name;
        if (name !== undefined) await this.#try(() => this.#client.patch(nodeKind, { name }, { type: 'merge', body: { spec: { unschedulable: true } } }));
        return;
      }
      case 'label pool':
        await this.#try(() =>
          this.#client.patch(
            nodePoolKind,
            { name: 'default' },
            { type: 'merge', body: { spec: { template: { metadata: { labels: { team: action.value } } } } } },
          ),
        );
    }
  }

  /** All that was created, and the NodePool with its nodes. */
  async removeAll(): Promise<void> {
    for (const kind of createdKinds)
      for (const { metadata } of this.#cluster.history.all(kind)) await this.#try(() => this.#client.delete(kind, refOf(metadata)));
  }

  get #client() {
    return this.#cluster.client;
  }

  async #create(plan: WorkloadPlan): Promise<void> {
    if (plan.hasBudget) await this.#try(() => this.#client.create(podDisruptionBudgetKind, budgetObject(plan)));
    if (plan.kind === 'set') return this.#try(() => this.#client.create(statefulSetKind, setObject(plan)));
    if (plan.kind === 'shared') await this.#try(() => this.#client.create(persistentVolumeClaimKind, sharedClaim(plan)));
    return this.#try(() => this.#client.create(deploymentKind, deploymentObject(plan)));
  }

  async #scale(name: string, replicas: number): Promise<void> {
    const kind = this.#workload(name);
    if (kind !== undefined) await this.#try(() => this.#client.patch(kind, { namespace, name }, { type: 'merge', body: { spec: { replicas } } }));
  }

  async #remove(name: string): Promise<void> {
    const kind = this.#workload(name);
    if (kind === undefined) return;
    await this.#try(() => this.#client.delete(kind, { namespace, name }));
    await this.#try(() => this.#client.delete(persistentVolumeClaimKind, { namespace, name }));
  }

  #workload(name: string): Kind<KubeObject> | undefined {
    return workloadKinds.find((kind) => {
      const object = this.#cluster.history.get(kind, { namespace, name });
      return object !== undefined && object.metadata.deletionTimestamp === undefined;
    });
  }

  async #deleteOne(kind: Kind<KubeObject>, number: number): Promise<void> {
    const ref = this.#nth(kind, number);
    if (ref !== undefined) await this.#try(() => this.#client.delete(kind, ref));
  }

  #nth(kind: Kind<KubeObject>, number: number): Ref | undefined {
    // The node of the cluster's own pods stays.
    const all = this.#cluster.history
      .all(kind)
      .filter(({ metadata }) => kind.kind !== 'Node' || metadata.labels?.['karpenter.sh/nodepool'] !== undefined)
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const object = all[number % Math.max(all.length, 1)];
    return object === undefined ? undefined : refOf(object.metadata);
  }

  /** Until the server answers; what it refuses is the user's mistake. */
  async #try(request: () => Promise<Result<unknown>>): Promise<void> {
    for (let left = attempts; left > 0; left--) {
      const result = await request();
      if (result.ok || result.reason !== 'unreachable') return;
      await this.#cluster.world.sleep(1_000);
    }
  }
}

const refOf = ({ namespace: of, name = '' }: KubeObject['metadata']): Ref => (of === undefined ? { name } : { namespace: of, name });
