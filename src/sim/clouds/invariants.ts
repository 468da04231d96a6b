/** What always holds of nodes that a cloud lends: asked about every change of an object or of the cloud. */
import type { Event, Node, Pod } from '../../api/generated/types.ts';
import { csiNodeKind } from '../../api/kinds/storage/csi-node.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { nodeClaimKind } from '../../api/kinds/karpenter/node-claim.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Stored } from '../../api/stored.ts';
import type { Cloud } from '../../cloud/engine/cloud.ts';
import type { Change, Instance } from '../../cloud/engine/records.ts';
import { providerIdOf, volumeLimitOf } from '../../cluster/cloud/instance-nodes.ts';
import { ebsDriverName } from '../../drivers/aws-ebs/driver.ts';
import { claimsOfPod, hasEnded } from '../../storage/volumes/pods.ts';
import type { ObjectHistory, RecordedChange } from '../scenario/object-history.ts';
import type { Violation } from '../invariants/observer.ts';

export interface CloudInvariantsOptions {
  readonly history: ObjectHistory;
  readonly cloud: Cloud;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onViolation: (violation: Violation) => void;
}

/** Shorter than the time between two plans. */
const planMs = 5_000;

export class CloudInvariants {
  readonly #options: CloudInvariantsOptions;
  /** Nodes on which a pod has ever been, by name. */
  readonly #used = new Set<string>();
  /** By the uid of a NodeClaim: the pods that it was created for. */
  readonly #plannedPods = new Map<string, Set<string>>();
  /** By the uid of a NodeClaim: its instance. */
  readonly #instances = new Map<string, string>();

  constructor(options: CloudInvariantsOptions) {
    this.#options = options;
    options.history.onChange((changes) => {
      for (const change of changes) this.#objectChanged(change);
    });
    options.cloud.onChange((change, before) => {
      if (change.in === 'instances') this.#instanceChanged(change, before as Instance | undefined);
    });
  }

  hasHadPods(node: string): boolean {
    return this.#used.has(node);
  }

  #objectChanged({ before, after }: RecordedChange): void {
    if (after?.kind === 'Pod') this.#podChanged(before as Pod | undefined, after as Stored<Pod>);
    if (after?.kind === 'Event') this.#eventRecorded(after as unknown as Event);
    if (before?.kind === 'Node' && after === undefined) this.#nodeGone(before as Stored<Node>);
  }

  #podChanged(before: Pod | undefined, pod: Stored<Pod>): void {
    const { nodeName = '' } = pod.spec;
    if (pod.status.phase === 'Running' && before?.status.phase !== 'Running') this.#podStarted(pod, nodeName);
    if (nodeName === '' || before?.spec.nodeName === nodeName) return;
    this.#used.add(nodeName);
    const most = this.#limitOf(nodeName);
    const volumes = new Set(this.#podsOn(nodeName).flatMap(claimsOfPod));
    if (most !== undefined && volumes.size > most)
      this.#violated(
        'attach limits hold on planned nodes',
        `${nodeName} can have ${most} volumes, and its pods need ${volumes.size} with ${pod.metadata.name}`,
      );
  }

  /** 'Pod should schedule on: nodeclaim/default-abcde' */
  #eventRecorded({ reason, message = '', involvedObject }: Event): void {
    const { history, now } = this.#options;
    const name = /nodeclaim\/([^,]+)/.exec(message)?.[1];
    const claim = name === undefined ? undefined : history.get(nodeClaimKind, { name });
    // Later plans move pods between nodes that are on their way, one event after the other.
    if (reason !== 'Nominated' || claim === undefined || now() - Date.parse(claim.metadata.creationTimestamp ?? '') > planMs) return;
    const { uid } = claim.metadata;
    const planned = this.#plannedPods.get(uid) ?? new Set();
    this.#plannedPods.set(uid, planned.add(involvedObject.uid ?? ''));
    const types = claim.spec.requirements.find(({ key }) => key === 'node.kubernetes.io/instance-type')?.values ?? [];
    const most = Math.max(...types.map((type) => volumeLimitOf(type)));
    const volumes = new Set(history.all(podKind).flatMap((pod) => (planned.has(pod.metadata.uid) ? claimsOfPod(pod) : [])));
    if (volumes.size > most)
      this.#violated('attach limits hold on planned nodes', `nodeclaim/${name} can have ${most} volumes, and is planned for pods with ${volumes.size}`);
  }

  /** Of its type, if its CSINode is not written yet. */
  #limitOf(name: string): number | undefined {
    const registered = this.#options.history.get(csiNodeKind, { name })?.spec.drivers?.find((driver) => driver.name === ebsDriverName);
    if (registered?.allocatable?.count !== undefined) return registered.allocatable.count;
    const type = this.#options.history.get(nodeKind, { name })?.metadata.labels?.['node.kubernetes.io/instance-type'];
    return type === undefined ? undefined : volumeLimitOf(type);
  }

  #podStarted(pod: Stored<Pod>, nodeName: string): void {
    const { history, cloud } = this.#options;
    const providerID = history.get(nodeKind, { name: nodeName })?.spec.providerID;
    for (const key of claimsOfPod(pod)) {
      const handle = this.#handleOf(key) ?? '';
      const attachment = cloud.state.volumes.get(handle)?.attachments.find(({ instanceId }) => providerID?.endsWith(`/${instanceId}`) === true);
      if (attachment?.state !== 'attached' && attachment?.state !== 'busy')
        this.#violated(
          'a pod runs only where its volumes are attached',
          `${pod.metadata.name} runs on ${nodeName}, and ${handle} of ${key} is not attached there`,
        );
    }
  }

  /** Of the volume that the claim is bound to. */
  #handleOf(claim: string): string | undefined {
    const { history } = this.#options;
    const [namespace = '', name = ''] = claim.split('/');
    const volume = history.get(persistentVolumeClaimKind, { namespace, name })?.spec.volumeName;
    return volume === undefined ? undefined : history.get(persistentVolumeKind, { name: volume })?.spec.csi?.volumeHandle;
  }

  #podsOn(node: string): readonly Stored<Pod>[] {
    return this.#options.history.all(podKind).filter((pod) => pod.spec.nodeName === node && !hasEnded(pod));
  }

  #nodeGone(node: Stored<Node>): void {
    const instance = [...this.#options.cloud.state.instances.values()].find((each) => providerIdOf(each) === node.spec.providerID);
    if (instance !== undefined && instance.state === 'running') this.#checkRemoved(node, instance, 'its Node was removed');
  }

  #instanceChanged({ record }: Extract<Change, { in: 'instances' }>, before: Instance | undefined): void {
    if (record !== undefined && before === undefined) this.#launched(record);
    if (record?.state !== 'shutting-down' || before?.state === 'shutting-down' || record.stateReason?.code !== 'Client.UserInitiatedShutdown') return;
    const node = this.#options.history.all(nodeKind).find(({ spec }) => spec.providerID === providerIdOf(record));
    if (node !== undefined) this.#checkRemoved(node, record, 'its instance was terminated');
  }

  #launched({ id, tags }: Instance): void {
    const claim = this.#options.history.get(nodeClaimKind, { name: tags['karpenter.sh/nodeclaim'] ?? '' });
    if (claim === undefined) return;
    const known = this.#options.cloud.state.instances.get(this.#instances.get(claim.metadata.uid) ?? '');
    if (known?.state === 'pending' || known?.state === 'running')
      this.#violated('a NodeClaim has one instance', `${claim.metadata.name} has ${known.id}, and ${id} was launched for it`);
    this.#instances.set(claim.metadata.uid, id);
  }

  /** Pods of a node that is not ready are not known to be alive. */
  #checkRemoved(node: Stored<Node>, instance: Instance, how: string): void {
    const isReady = node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    if (!isReady) return;
    const { cloud } = this.#options;
    const handles = new Set(cloud.state.attachedTo(instance.id).flatMap(({ volume, attachment }) => (attachment.deleteOnTermination ? [] : [volume.id])));
    for (const pod of this.#podsOn(node.metadata.name))
      for (const claim of claimsOfPod(pod))
        if (handles.has(this.#handleOf(claim) ?? ''))
          this.#violated(
            'no node is removed while a volume is attached and its pod is alive',
            `${node.metadata.name} has ${pod.metadata.name} with ${claim}, and ${how}`,
          );
  }

  #violated(invariant: string, what: string): void {
    this.#options.onViolation({ invariant, what });
  }
}
