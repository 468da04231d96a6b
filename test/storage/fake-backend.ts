/** A storage backend that only remembers its assets, and fails on demand. */
import type { PersistentVolumeSource } from '../../src/api/generated/types.ts';
import type { CreateIntent } from '../../src/storage/provisioner/actions.ts';
import type { CreateOutcome, DeleteOutcome, DriverCapabilities } from '../../src/api/volumes/driver-capabilities.ts';
import { type Asset, volumeNameOf } from '../../src/api/volumes/intent.ts';

export const hostPathDriver: DriverCapabilities = {
  name: 'kubernetes.io/host-path',
  provisions: true,
  deletes: true,
  mountOptions: false,
  block: false,
  expands: 'opt-in',
  attaches: false,
};

export class FakeBackend {
  /** Handles of what exists. */
  readonly assets = new Set<string>();
  readonly drivers = new Map<string, DriverCapabilities>([[hostPathDriver.name, hostPathDriver]]);
  /** The next calls fail like this; `unknown`: the call had its effect, but reports a failure. */
  failures: ('final' | 'unknown')[] = [];
  /** Nodes on which nothing more can be made. */
  readonly fullNodes = new Set<string>();
  /** How often something that existed was really deleted. */
  deletions = 0;

  copy(): FakeBackend {
    const other = new FakeBackend();
    for (const asset of this.assets) other.assets.add(asset);
    other.drivers.clear();
    for (const [name, driver] of this.drivers) other.drivers.set(name, driver);
    other.failures = [...this.failures];
    for (const node of this.fullNodes) other.fullNodes.add(node);
    return other;
  }

  driver(name: string): DriverCapabilities | undefined {
    return this.drivers.get(name);
  }

  create(intent: CreateIntent): CreateOutcome {
    const failure = this.failures.shift();
    if (failure === 'final' || this.fullNodes.has(intent.spec.request.selectedNode ?? '')) return { type: 'failed', message: 'out of space', final: true };
    const handle = this.handleFor(volumeNameOf(intent));
    this.assets.add(handle);
    if (failure === 'unknown') return { type: 'failed', message: 'timed out', final: false };
    const asset: Asset = {
      handle,
      capacity: intent.spec.request.capacity,
      source: { hostPath: { path: handle } },
      annotations: { 'kubernetes.io/createdby': 'hostpath-dynamic-provisioner' },
    };
    return { type: 'created', asset };
  }

  delete(handle: string): DeleteOutcome {
    const failure = this.failures.shift();
    if (failure === 'final') return { type: 'failed', message: 'device is busy', final: true };
    if (!handle.startsWith('/tmp/')) return { type: 'failed', message: `host_path deleter only supports /tmp/.+ but received provided ${handle}`, final: true };
    if (this.assets.delete(handle)) this.deletions++;
    return failure === 'unknown' ? { type: 'failed', message: 'timed out', final: false } : { type: 'deleted' };
  }

  /** Of the asset that is made for a volume of this name. */
  handleFor(volumeName: string): string {
    return `/tmp/hostpath_pv/${uuidFor(volumeName)}`;
  }

  handleOf({ hostPath }: PersistentVolumeSource): string {
    return hostPath?.path ?? '';
  }
}

/** The same for the same volume, yet not the claim's uid. */
function uuidFor(volumeName: string): string {
  const uid = volumeName.replace(/^pvc-/, '');
  return uid.replace(/[0-9a-f]/g, (digit) => (Number.parseInt(digit, 16) ^ 0xf).toString(16));
}
