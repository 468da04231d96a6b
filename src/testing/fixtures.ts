/** One cluster for the tests of a file, restored before each of them; and a namespace for each. Nothing here loads a test framework. */
import { type ClusterSnapshot, startTestCluster, type TestCluster, type TestClusterOptions, type TestNamespace } from './test-cluster.ts';

export interface ClusterFixtureOptions extends TestClusterOptions {
  /** Called once, before the first test: what it makes, every test begins with. */
  readonly setUp?: (cluster: TestCluster) => Promise<void>;
}

/** A cluster that is started once, and begins anew for each test. */
class SharedCluster {
  readonly #options: ClusterFixtureOptions;
  #started: Promise<{ readonly cluster: TestCluster; readonly snapshot: ClusterSnapshot }> | undefined;
  #isFresh = true;

  constructor(options: ClusterFixtureOptions) {
    this.#options = options;
  }

  /** As it was after `setUp`. */
  async renewed(): Promise<TestCluster> {
    this.#started ??= this.#start();
    const { cluster, snapshot } = await this.#started;
    if (!this.#isFresh) await cluster.restore(snapshot);
    this.#isFresh = false;
    return cluster;
  }

  async stop(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    await (await started)?.cluster.stop();
  }

  async #start() {
    const { setUp, ...options } = this.#options;
    const cluster = await startTestCluster(options);
    await setUp?.(cluster);
    return { cluster, snapshot: await cluster.snapshot() };
  }
}

type Use<T> = (value: T) => Promise<void>;

export interface VitestFixtures {
  readonly cluster: (context: object, use: Use<TestCluster>) => Promise<void>;
  readonly namespace: (context: { readonly cluster: TestCluster }, use: Use<TestNamespace>) => Promise<void>;
}

/**
 * Fixtures for `test.extend` of Vitest: `cluster` begins anew for each test of the file, `namespace` is a new namespace in it.
 * @example
 * import { test as base } from 'vitest';
 * import { vitestFixtures } from 'mooring/testing';
 *
 * const test = base.extend(vitestFixtures());
 * test('binds a claim', async ({ namespace }) => {
 *   await namespace.apply(claim);
 *   await namespace.waitFor('pvc/data', 'is Bound');
 * });
 */
export function vitestFixtures(options: ClusterFixtureOptions = {}): VitestFixtures {
  const shared = new SharedCluster(options);
  return {
    // Vitest reads the names of the fixtures that a fixture needs from its first parameter, which has to be a pattern.
    // oxlint-disable-next-line no-empty-pattern
    cluster: async ({}, use) => use(await shared.renewed()),
    namespace: async ({ cluster }, use) => use(await cluster.namespace()),
  };
}

/** The hooks of a test framework: `beforeEach` and `afterAll` of Jest or Vitest, `beforeEach` and `after` of node:test. */
export interface TestHooks {
  readonly beforeEach: (hook: () => Promise<void>) => unknown;
  readonly afterAll?: (hook: () => Promise<void>) => unknown;
  readonly after?: (hook: () => Promise<void>) => unknown;
}

/** What a test uses; it is there once the first test begins. */
export interface ClusterInTests {
  readonly cluster: TestCluster;
  /** Of the test that runs. */
  readonly namespace: TestNamespace;
}

/**
 * For Jest, node:test and every framework with such hooks: a cluster that begins anew for each test, and a namespace for it.
 * @example
 * import { after, beforeEach, test } from "node:test";           // or the globals of Jest: { beforeEach, afterAll }
 * import { useCluster } from 'mooring/testing';
 *
 * const tests = useCluster({ beforeEach, after });
 * test('binds a claim', async () => {
 *   await tests.namespace.apply(claim);
 *   await tests.namespace.waitFor('pvc/data', 'is Bound');
 * });
 */
export function useCluster({ beforeEach, afterAll, after }: TestHooks, options: ClusterFixtureOptions = {}): ClusterInTests {
  const shared = new SharedCluster(options);
  let current: ClusterInTests | undefined;
  beforeEach(async () => {
    const cluster = await shared.renewed();
    current = { cluster, namespace: await cluster.namespace() };
  });
  (afterAll ?? after)?.(() => shared.stop());
  const inTest = (): ClusterInTests => {
    if (current === undefined) throw new Error('the cluster is there in tests and in hooks that run after this beforeEach');
    return current;
  };
  return {
    get cluster() {
      return inTest().cluster;
    },
    get namespace() {
      return inTest().namespace;
    },
  };
}
