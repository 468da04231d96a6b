/** The autoscaler's cloud: EC2's fleets, on the engine of this process. */
import type { NodeClaim } from '../../api/kinds/karpenter/node-claim.ts';
import type { NodeClassRef } from '../../api/kinds/karpenter/node-pool.ts';
import { type EC2NodeClass, ec2NodeClassKind } from '../../api/kinds/karpenter/ec2-node-class.ts';
import type { CloudFailure, CloudProvider, InstanceType, LaunchOutcome, Instance as ProvidedInstance } from '../../autoscaler/cloud-provider.ts';
import { labels, unregisteredTaint } from '../../autoscaler/labels.ts';
import { type Choice, choicesFor } from '../../autoscaler/offerings.ts';
import { type Requirements, requirementsOf } from '../../autoscaler/requirements/requirements.ts';
import { exactly } from '../../autoscaler/requirements/value-set.ts';
import type { Cache } from '../../client/informers/cache.ts';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import { CloudError } from '../../cloud/engine/errors.ts';
import type { InstanceType as CloudType } from '../../cloud/engine/instance-types.ts';
import type { Instance } from '../../cloud/engine/records.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { capacityOf, providerIdOf, volumeLimitOf } from './instance-nodes.ts';
import { kubeletUserData } from './user-data.ts';

const tags = {
  claim: 'karpenter.sh/nodeclaim',
  pool: 'karpenter.sh/nodepool',
  cluster: 'eks:eks-cluster-name',
  class: 'karpenter.k8s.aws/ec2nodeclass',
} as const;

/** As many as EC2 takes in one request. */
const mostOverrides = 60;

export interface NodeProviderOptions {
  readonly cloud: Cloud;
  readonly informers: Informers;
  /** Instances of other clusters in the same cloud are left alone. */
  readonly clusterName: string;
}

export class NodeProvider implements CloudProvider {
  readonly #cloud: Cloud;
  readonly #clusterName: string;
  readonly #classes: Cache<EC2NodeClass>;
  /** Until other faults hold. */
  #types: readonly InstanceType[] | undefined;

  constructor({ cloud, informers, clusterName }: NodeProviderOptions) {
    this.#cloud = cloud;
    this.#clusterName = clusterName;
    this.#classes = informers.cache(ec2NodeClassKind);
    cloud.onFaults(() => {
      this.#types = undefined;
    });
  }

  instanceTypes({ group, kind, name }: NodeClassRef): readonly InstanceType[] | undefined {
    if (group !== ec2NodeClassKind.group || kind !== ec2NodeClassKind.kind || this.#classes.getKey(name) === undefined) return undefined;
    return (this.#types ??= this.#cloud.offerings().map(({ type, offerings }) => ({
      name: type.name,
      requirements: requirementsOfType(type, this.#cloud.region.name),
      offerings: offerings.map(({ zone, capacityType, price, available }) => ({ zone, capacityType, price, isAvailable: available })),
      capacity: capacityOf(type.name),
      allocatable: capacityOf(type.name),
      volumeLimits: { 'ebs.csi.aws.com': volumeLimitOf(type.name) },
    })));
  }

  async create(claim: NodeClaim): Promise<LaunchOutcome> {
    const types = this.instanceTypes(claim.spec.nodeClassRef);
    const { kind, name } = claim.spec.nodeClassRef;
    if (types === undefined) return { type: 'nodeClassNotReady', message: `${kind} "${name}" does not exist` };
    try {
      const known = (await this.#cloud.describeInstances()).find(
        // By the token, not by the name: a later claim for the same pods has the same name, and may ask for another instance.
        (instance) => this.#isOurs(instance) && instance.clientToken === claim.metadata.uid && isAlive(instance),
      );
      return known === undefined ? await this.#launch(claim, types) : launchedAs(known, types);
    } catch (error) {
      return { type: 'failed', ...reasonOf(error) };
    }
  }

  async #launch(claim: NodeClaim, types: readonly InstanceType[]): Promise<LaunchOutcome> {
    const choices = choicesFor(types, requirementsOf(claim.spec.requirements));
    const capacityType = choices.some(({ offering }) => offering.capacityType === 'spot') ? 'spot' : 'on-demand';
    const chosen = choices.filter(({ offering }) => offering.capacityType === capacityType).slice(0, mostOverrides);
    if (chosen.length === 0) return { type: 'insufficientCapacity', message: 'all requested instance types were unavailable during launch' };
    const { name = '', uid } = claim.metadata;
    const fleet = await this.#cloud.call('CreateFleet', {
      capacityType,
      count: 1,
      overrides: chosen.map(({ type, offering }: Choice) => ({ instanceType: type.name, zone: offering.zone })),
      tags: {
        Name: `${claim.metadata.labels?.[labels.nodePool] ?? ''}/${name}`,
        [tags.cluster]: this.#clusterName,
        [tags.claim]: name,
        [tags.pool]: claim.metadata.labels?.[labels.nodePool] ?? '',
        [tags.class]: claim.spec.nodeClassRef.name,
      },
      userData: kubeletUserData({
        labels: { [labels.capacityType]: capacityType, ...claim.metadata.labels },
        taints: [...(claim.spec.taints ?? []), ...(claim.spec.startupTaints ?? []), unregisteredTaint],
      }),
      ...(uid === undefined ? {} : { clientToken: uid }),
    });
    const [instance] = fleet.instances;
    if (instance !== undefined) return launchedAs(instance, types);
    const texts = fleet.errors.map(({ code, message }) => `${code}: ${message}`);
    return { type: 'insufficientCapacity', message: `creating instance, with fleet error(s), ${[...new Set(texts)].slice(0, 3).join('; ')}` };
  }

  async delete(providerID: string): Promise<'terminating' | 'gone' | CloudFailure> {
    try {
      const [change] = await this.#cloud.call('TerminateInstances', [instanceIdOf(providerID)]);
      return change === undefined || change.before === 'terminated' ? 'gone' : 'terminating';
    } catch (error) {
      return isUnknown(error) ? 'gone' : { failed: reasonOf(error).message };
    }
  }

  async get(providerID: string): Promise<ProvidedInstance | 'gone' | CloudFailure> {
    try {
      const [instance] = await this.#cloud.describeInstances([instanceIdOf(providerID)]);
      return instance === undefined || !isAlive(instance) ? 'gone' : provided(instance);
    } catch (error) {
      return isUnknown(error) ? 'gone' : { failed: reasonOf(error).message };
    }
  }

  async list(): Promise<readonly ProvidedInstance[] | CloudFailure> {
    try {
      return (await this.#cloud.describeInstances()).filter((instance) => this.#isOurs(instance) && isAlive(instance)).map(provided);
    } catch (error) {
      return { failed: reasonOf(error).message };
    }
  }

  isDrifted({ spec }: NodeClaim): string | undefined {
    return this.#classes.getKey(spec.nodeClassRef.name) === undefined ? 'NodeClassDrift' : undefined;
  }

  onChange(listener: () => void): () => void {
    return this.#cloud.onChange((change) => {
      if (change.in === 'instances') listener();
    });
  }

  #isOurs({ tags: known }: Instance): boolean {
    return known[tags.cluster] === this.#clusterName && known[tags.claim] !== undefined;
  }
}

/** By an autoscaler, for a NodeClaim. */
export const isLaunched = ({ tags: known }: Pick<Instance, 'tags'>): boolean => known[tags.claim] !== undefined;

const isAlive = ({ state }: Instance): boolean => state !== 'terminated' && state !== 'shutting-down';
const isUnknown = (error: unknown): boolean => error instanceof CloudError && error.code === 'InvalidInstanceID.NotFound';
const instanceIdOf = (providerID: string): string => providerID.slice(providerID.lastIndexOf('/') + 1);

const provided = (instance: Instance): ProvidedInstance => ({
  providerID: providerIdOf(instance),
  claim: instance.tags[tags.claim] ?? '',
  launchedAt: instance.launchTime,
});

/** The answer of a call that took effect may be lost: the call is made again, and finds what was made. */
function reasonOf(error: unknown): { readonly reason: string; readonly message: string } {
  if (error instanceof CloudError) return { reason: 'LaunchFailed', message: `${error.code}: ${error.message}` };
  return { reason: 'LaunchFailed', message: error instanceof Error ? error.message : String(error) };
}

function launchedAs(instance: Instance, types: readonly InstanceType[]): LaunchOutcome {
  const type = types.find(({ name }) => name === instance.type);
  const ofType = Object.fromEntries(
    [...(type?.requirements ?? [])].flatMap(([key, { values, isComplement }]) => (isComplement || values.size !== 1 ? [] : [[key, [...values][0] ?? '']])),
  );
  return {
    type: 'launched',
    providerID: providerIdOf(instance),
    imageID: instance.imageId,
    capacity: capacityOf(instance.type),
    allocatable: capacityOf(instance.type),
    labels: { ...ofType, [labels.zone]: instance.zone, [labels.capacityType]: instance.capacityType },
  };
}

/** The labels of a type's nodes, under Karpenter's names. */
function requirementsOfType(type: CloudType, region: string): Requirements {
  const [, category = '', generation = ''] = /^([a-z]+)(\d+)/.exec(type.family) ?? [];
  const values = {
    [labels.instanceType]: type.name,
    [labels.architecture]: type.architecture === 'arm64' ? 'arm64' : 'amd64',
    [labels.operatingSystem]: 'linux',
    [labels.region]: region,
    'karpenter.k8s.aws/instance-category': category,
    'karpenter.k8s.aws/instance-generation': generation,
    'karpenter.k8s.aws/instance-family': type.family,
    'karpenter.k8s.aws/instance-size': type.size,
    'karpenter.k8s.aws/instance-cpu': String(type.vcpus),
    'karpenter.k8s.aws/instance-memory': String(type.memoryMiB),
    'karpenter.k8s.aws/instance-hypervisor': type.hypervisor,
  };
  return new Map(Object.entries(values).map(([key, value]) => [key, exactly(value)]));
}
