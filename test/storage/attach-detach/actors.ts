/** Those on the other side: an attacher with its disks, and kubelets that mount. Both know when something is done to them that must not be. */
import type { Node, VolumeAttachment } from '../../../src/api/generated/types.ts';
import { nodeKind } from '../../../src/api/kinds/core/node.ts';
import { volumeAttachmentKind } from '../../../src/api/kinds/storage/volume-attachment.ts';
import { podKind } from '../../../src/api/kinds/pod/pod.ts';
import { hasEnded } from '../../../src/storage/volumes/pods.ts';
import type { SimulatedWorld } from '../../../src/sim/world/world.ts';
import { type Cluster, uniqueName } from './cluster.ts';

/** What must never happen, if it did. */
export type Violations = string[];

/** Which volume is attached where, in truth. Volumes whose name begins with 'shared' can be attached more than once. */
export class Disks {
  readonly #places = new Map<string, Set<string>>();

  on(volume: string): ReadonlySet<string> {
    return this.#places.get(volume) ?? new Set();
  }

  attach(volume: string, node: string): boolean {
    const places = this.#places.get(volume) ?? new Set();
    if (places.size > 0 && !places.has(node) && !volume.startsWith('shared')) return false;
    this.#places.set(volume, places.add(node));
    return true;
  }

  detach(volume: string, node: string): void {
    this.#places.get(volume)?.delete(node);
  }

  get all(): string[] {
    return [...this.#places].flatMap(([volume, nodes]) => [...nodes].map((node) => `${volume}@${node}`)).sort();
  }
}

interface AttacherContext {
  readonly cluster: Cluster;
  readonly world: SimulatedWorld;
  readonly disks: Disks;
  readonly kubelets: ReadonlyMap<string, Kubelet>;
  readonly violations: Violations;
}

/** As the external attacher of CSI works, one attachment after the other. */
export async function runAttacher(context: AttacherContext): Promise<void> {
  for (let revision = -1; ; ) {
    await context.world.sleep(context.world.random.float() * 300);
    if (revision === context.cluster.revision()) continue;
    revision = context.cluster.revision();
    for (const attachment of await context.cluster.attachments()) await handle(context, attachment).catch(() => undefined);
  }
}

async function handle(context: AttacherContext, attachment: VolumeAttachment): Promise<void> {
  const { cluster, disks } = context;
  const { metadata, spec, status } = attachment;
  const volume = spec.source.persistentVolumeName ?? '';
  const ref = { name: metadata.name ?? '' };
  if (metadata.deletionTimestamp !== undefined) {
    checkDetach(context, volume, spec.nodeName, (await cluster.client.get(nodeKind, { name: spec.nodeName })) as { value?: Node });
    disks.detach(volume, spec.nodeName);
    await cluster.change(volumeAttachmentKind, ref, (va) => ({ ...va, metadata: { ...va.metadata, finalizers: [] } }));
  } else if (metadata.finalizers === undefined) {
    await cluster.change(volumeAttachmentKind, ref, (va) => ({ ...va, metadata: { ...va.metadata, finalizers: ['external-attacher/driver'] } }));
  } else if (!status.attached) {
    const attachError = { message: 'attached elsewhere', time: '2026-01-01T00:00:00Z' };
    const isAttached = disks.attach(volume, spec.nodeName);
    await cluster.changeStatus(volumeAttachmentKind, ref, (va) => ({ ...va, status: isAttached ? { attached: true } : { attached: false, attachError } }));
  }
}

function checkDetach({ violations, kubelets }: AttacherContext, volume: string, node: string, found: { value?: Node }): void {
  if (kubelets.get(node)?.mounted.has(volume) === true) violations.push(`${volume} was detached from ${node}, which had it mounted`);
  const listed = found.value?.status.volumesAttached?.some(({ name }) => name === uniqueName(volume));
  if (listed === true) violations.push(`${volume} was detached from ${node}, whose status lists it as attached`);
}

/** As a kubelet mounts: it reports a volume in use, then reads the list, then mounts. */
export class Kubelet {
  readonly mounted = new Set<string>();
  readonly #context: Omit<AttacherContext, 'kubelets'>;
  readonly #name: string;

  constructor(context: Omit<AttacherContext, 'kubelets'>, name: string) {
    this.#context = context;
    this.#name = name;
  }

  async run(): Promise<void> {
    const { world, cluster } = this.#context;
    for (let revision = -1; ; ) {
      await world.sleep(world.random.float() * 300);
      if (revision === cluster.revision()) continue;
      revision = cluster.revision();
      await this.#sync().catch(() => undefined);
    }
  }

  async #sync(): Promise<void> {
    const { cluster, world, disks, violations } = this.#context;
    const wanted = await this.#wanted();
    for (const volume of this.mounted) if (!wanted.has(volume)) this.mounted.delete(volume);
    const inUse = [...new Set([...wanted, ...this.mounted])].sort();
    await cluster.report(this.#name, { volumesInUse: inUse.map(uniqueName) });
    await world.sleep(world.random.float() * 40);
    const node = await cluster.client.get(nodeKind, { name: this.#name });
    if (!node.ok) return;
    for (const volume of wanted) {
      if (node.value.status.volumesAttached?.some(({ name }) => name === uniqueName(volume)) !== true) continue;
      if (!disks.on(volume).has(this.#name)) violations.push(`${this.#name} lists ${volume} as attached, which it is not`);
      this.mounted.add(volume);
    }
  }

  async #wanted(): Promise<Set<string>> {
    const pods = await this.#context.cluster.client.list(podKind);
    if (!pods.ok) throw pods.error;
    const mine = pods.value.items.filter((pod) => pod.spec.nodeName === this.#name && !hasEnded(pod));
    return new Set(mine.flatMap(({ spec }) => spec.volumes?.map(({ name }) => name) ?? []));
  }
}
