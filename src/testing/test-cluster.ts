import type { StorageClass } from '../api/generated/types.ts';
import type { NodeOptions } from '../cluster/nodes/node-settings.ts';
import { defaultNodes, nodeSettings } from '../cluster/nodes/node-settings.ts';
import { hostsOf } from '../sim/scenario/hosts.ts';
import { driverOf, usualDriver } from '../sim/scenario/language/read-cluster.ts';
import { durationOf } from '../sim/scenario/language/duration.ts';
import { scriptSteps } from '../sim/scenario/language/script-step.ts';
import { type Failure, stepsOf } from './failures.ts';
import { expectQuiet, type QuietOptions } from './quiet.ts';
import { TestClient } from './test-client.ts';
import { type ClusterState, VirtualCluster } from './virtual-cluster.ts';

export interface TestClusterOptions {
  /** Default: three nodes, in zone-a, zone-b and zone-c. No container runs on them; everything else about a pod is real. */
  readonly nodes?: Omit<NodeOptions, 'csiDrivers'>;
  /** Storage backends, by the names of their CSI drivers, with disks in zones. Default: disks.example.com. */
  readonly drivers?: readonly string[];
  /** The StorageClasses `standard` (the default one: WaitForFirstConsumer) and `immediate`, of the first driver. Default: true. */
  readonly storageClasses?: boolean;
  /** Decides the order of all that happens at one time, and every random name. Default: 1. */
  readonly seed?: number;
}

/** The whole of a cluster at a moment, for `restore`. */
export class ClusterSnapshot {
  /** @internal */
  readonly state: ClusterState;

  /** @internal */
  constructor(state: ClusterState) {
    this.state = state;
  }
}

/** A failure that was injected. */
export interface InjectedFailure {
  /** Ends it before its time. A process or an API that is down ends by itself. */
  recover(): Promise<void>;
}

/** The time of the cluster. It is virtual: it passes only while a call waits for something, and an hour takes milliseconds. */
export class ClusterTime {
  readonly #virtual: VirtualCluster;

  /** @internal */
  constructor(virtual: VirtualCluster) {
    this.#virtual = virtual;
  }

  /** Now, in the cluster. */
  get now(): Date {
    return new Date(this.#virtual.world.clock.now());
  }

  /**
   * Lets time pass, and all that happens in it.
   * @example
   * await cluster.time.advance('10m');
   */
  async advance(duration: string): Promise<void> {
    const ms = durationOf(duration);
    await this.#virtual.run(() => this.#virtual.world.sleep(ms));
  }
}

/** A namespace of one test. It ends with the test: `await using namespace = await cluster.namespace()`. */
export class TestNamespace extends TestClient {
  /**
   * Deletes the namespace and waits until all of it is gone.
   * @throws WaitError, with the words of `moor why`, if something in it does not end
   * @example
   * await namespace.remove();
   */
  async remove(): Promise<void> {
    const ref = `namespace/${this.namespaceName}`;
    if ((await this.find(ref)) === undefined) return;
    await this.delete(ref);
    await this.waitUntilGone(ref);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}

/**
 * A cluster for tests: API server, every controller, scheduler, nodes and storage backends, in this process, in memory, on virtual time. The same calls
 * with the same seed give the same results.
 */
export class TestCluster extends TestClient {
  readonly time: ClusterTime;
  readonly #virtual: VirtualCluster;
  #namespaces = 0;

  /** @internal */
  constructor(virtual: VirtualCluster) {
    super(virtual, 'default');
    this.#virtual = virtual;
    this.time = new ClusterTime(virtual);
  }

  /**
   * Makes a node, a zone, a backend's calls, a process or the API server fail.
   * @throws Error if there is no such node, zone or backend
   * @example
   * await cluster.fail({ node: 'node-1', for: '10m' });
   * await cluster.fail({ backend: 'disks.example.com', call: 'create', code: 'ResourceExhausted', times: 3 });
   * await cluster.fail({ api: '5s' });
   * const dark = await cluster.fail({ zone: 'zone-a' });
   * await dark.recover();
   */
  async fail(failure: Failure): Promise<InjectedFailure> {
    const { begin, end } = stepsOf(failure, this.#virtual.cluster);
    await this.#virtual.perform(begin);
    return {
      recover: async () => {
        if (end !== undefined) await this.#virtual.perform(end);
      },
    };
  }

  /**
   * A step in the words of docs/SIMULATE.md.
   * @throws PhraseError if it is not understood, Error if the cluster refuses it
   * @example
   * await cluster.perform('drain node-1');
   * await cluster.perform('taint node-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute');
   * await cluster.perform('node-4 joins in zone-b');
   */
  async perform(step: string): Promise<void> {
    await this.#virtual.perform(scriptSteps.read(step));
  }

  /**
   * The state of the whole cluster: objects, disks, nodes and time. Failures are no part of it.
   * @example
   * const clean = await cluster.snapshot();
   * afterEach(() => cluster.restore(clean));
   */
  async snapshot(): Promise<ClusterSnapshot> {
    return new ClusterSnapshot(await this.#virtual.state());
  }

  /**
   * Back to the snapshot, and to its time; failures have ended. Every process starts anew on that state, as after a crash. Watches end.
   * @example
   * await cluster.restore(clean);
   */
  async restore(snapshot: ClusterSnapshot): Promise<void> {
    await this.#virtual.restore(snapshot.state);
  }

  /**
   * The cluster comes to rest: nothing is written for a while. Leases, heartbeats and what this test writes do not count.
   * @throws QuietError, which names what was written and by which component
   * @example
   * await cluster.expectQuiet();
   * await cluster.expectQuiet({ for: '5m', within: '1h' });
   */
  async expectQuiet(options: QuietOptions = {}): Promise<void> {
    await expectQuiet(this.#virtual, options);
  }

  /**
   * A new namespace, and a client of it. Without a name: test-1, test-2 …
   * @example
   * await using shop = await cluster.namespace();
   * await shop.apply(manifest);
   */
  async namespace(name = `test-${++this.#namespaces}`): Promise<TestNamespace> {
    await this.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return new TestNamespace(this.#virtual, name);
  }

  /**
   * Ends the cluster. All that there was is in memory: nothing is left. Idempotent.
   * @example
   * afterAll(() => cluster.stop());
   */
  async stop(): Promise<void> {
    this.#virtual.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/**
 * Starts a cluster for tests.
 * @throws NodeSettingsError if the options are not valid
 * @example
 * await using cluster = await startTestCluster();
 * await cluster.apply(readFileSync('db.yaml', 'utf8'));
 * await cluster.waitFor('sts/db', 'has 3 ready');
 * await cluster.fail({ zone: 'zone-a' });
 * await cluster.time.advance('10m');
 */
export async function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { nodes = {}, drivers: names = [usualDriver], storageClasses = true, seed = 1 } = options;
  const drivers = names.map((name) => driverOf(name));
  const settings = nodeSettings({ ...nodes, csiDrivers: names });
  const plans = Array.from({ length: settings.count }, (_, i) => ({
    name: `node-${i + 1}`,
    zone: settings.zones[i % settings.zones.length] ?? '',
    labels: {},
    taints: [],
    capacity: settings.capacity,
    attachLimit: settings.volumeLimit,
  }));
  const hosts = hostsOf({ region: nodes.region ?? defaultNodes.region, drivers }, plans);
  const cluster = new TestCluster(await VirtualCluster.start({ hosts, drivers, seed }));
  const [provisioner] = names;
  if (storageClasses && provisioner !== undefined) for (const each of usualClasses(provisioner)) await cluster.apply(each);
  return cluster;
}

const usualClasses = (provisioner: string): readonly StorageClass[] =>
  (['standard', 'immediate'] as const).map((name) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, ...(name === 'standard' ? { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } : {}) },
    provisioner,
    reclaimPolicy: 'Delete',
    volumeBindingMode: name === 'standard' ? 'WaitForFirstConsumer' : 'Immediate',
    allowVolumeExpansion: true,
  }));
