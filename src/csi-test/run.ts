import { RpcError } from '../grpc/status.ts';
import type { Random, World } from '../world/world.ts';
import { Bench, type BenchContext, type TestNode } from './bench.ts';
import { missingNeed, type Need, readCapabilities } from './capabilities.ts';
import { clauses } from './clauses.ts';
import { type Driver, DriverUnavailable } from './driver.ts';
import { mountsAt, publishedVolume, takeDown } from './expect.ts';
import { type Inventory, leaks, type Machine, takeInventory } from './inventory.ts';
import { textOf } from './ledger.ts';
import type { TestOptions } from './options.ts';
import type { CaseResult, Report } from './report/result.ts';
import type { TestCase } from './test-case.ts';
import { NotApplicable, Violation } from './violation.ts';

export interface RunContext {
  /** The first also has the controller service; each is a node. */
  readonly drivers: readonly [Driver, ...Driver[]];
  readonly cases: readonly TestCase[];
  readonly options: TestOptions;
  readonly machine: Machine;
  readonly world: World;
  /** A generator for a seed: the same numbers in each run. */
  readonly randomOf: (seed: number) => Pick<Random, 'float'>;
  readonly onResult: (result: CaseResult) => void;
}

/** Runs all cases, one after the other, and cleans up after each. Rejects with `DriverUnavailable` if the driver cannot be started. */
export async function runTests(context: RunContext): Promise<Report> {
  const { drivers, world, options } = context;
  const startedAt = world.clock.monotonic();
  for (const driver of drivers) await driver.start();
  const run = await prepare(context);
  const info = await drivers[0].identity.getPluginInfo({});
  const results: CaseResult[] = [];
  let aborted: string | undefined;
  for (const [index, test] of context.cases.entries()) {
    if (aborted !== undefined) break;
    const result = await run.runCase(test, index);
    results.push(result);
    context.onResult(result);
    aborted = await run.revive();
  }
  return {
    driver: { name: info.name, version: info.vendorVersion },
    capabilities: [...run.offered].sort(),
    seed: options.seed,
    results,
    durationMs: world.clock.monotonic() - startedAt,
    ...(aborted === undefined ? {} : { aborted }),
  };
}

async function prepare(context: RunContext): Promise<Run> {
  const { drivers, options } = context;
  const offered = new Set<Need>(await readCapabilities(drivers[0]));
  if (drivers[0].canRestart) offered.add('restart');
  if (drivers.length > 1) offered.add('second-node');
  if (options.accessType === 'mount') offered.add('mount');
  const nodes = await Promise.all(drivers.map(nodeOf));
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error('there is no driver');
  const run = new Run(context, { nodes: [first, ...others], offered });
  if (await run.warmUp()) offered.add('mounts');
  return run;
}

async function nodeOf(driver: Driver): Promise<TestNode> {
  const { nodeId, accessibleTopology } = await driver.node.nodeGetInfo({});
  return { id: nodeId, driver, ...(accessibleTopology === undefined ? {} : { topology: accessibleTopology.segments }) };
}

class Run {
  readonly #context: RunContext;
  readonly #nodes: BenchContext['nodes'];
  readonly offered: ReadonlySet<Need>;
  readonly #runId: string;
  readonly #ownFiles = new Set<string>();
  /** Volumes and snapshots from before the run. */
  #existing: ReadonlySet<string> = new Set();
  /** What is there between two cases. */
  #inventory: Inventory = new Map();

  constructor(context: RunContext, { nodes, offered }: { nodes: BenchContext['nodes']; offered: ReadonlySet<Need> }) {
    this.#context = context;
    this.#nodes = nodes;
    this.offered = offered;
    this.#runId = `moor-${context.world.random.uuid().slice(0, 8)}`;
  }

  /** One volume's life: a driver makes its folders and files of state with the first one. Whether this process sees its mounts. */
  async warmUp(): Promise<boolean> {
    // Not caught: without the list, what is there could not be told from what the run makes.
    this.#existing = new Set((await takeInventory(this.#benchFor('before', 0).inventorySources())).keys());
    const bench = this.#benchFor('warm-up', 0);
    let seesMounts = false;
    if (this.offered.has('controller:CREATE_DELETE_VOLUME')) {
      try {
        const volume = await publishedVolume(bench);
        seesMounts = (await mountsAt(bench, bench.targetPath(volume, 'pod'))) > 0;
        await takeDown(bench, volume);
        if (this.offered.has('controller:CREATE_DELETE_SNAPSHOT')) await bench.createSnapshot(volume);
      } catch (error) {
        // The cases report it.
        if (!(error instanceof RpcError || error instanceof Violation)) throw error;
      }
      await bench.ledger.undoAll();
    }
    const left = await takeInventory(bench.inventorySources()).catch(() => new Map<string, number>());
    for (const name of left.keys()) if (name.startsWith('file ')) this.#ownFiles.add(name);
    this.#inventory = left;
    return seesMounts;
  }

  async runCase(test: TestCase, index: number): Promise<CaseResult> {
    const { clock } = this.#context.world;
    const startedAt = clock.monotonic();
    const { id, part, title, harm } = test;
    const known = { id, part, title, clause: test.clause, ...(harm === undefined ? {} : { harm }) };
    const missing = missingNeed(test.needs, this.offered);
    if (missing !== undefined) return { ...known, outcome: 'not-applicable', message: missing, durationMs: 0 };
    const logLength = this.#log().length;
    const bench = this.#benchFor(test.id, index + 1);
    const problem = (await failureOf(() => test.run(bench))) ?? (await this.#unexpectedEnd());
    const left = await this.#cleanUp(bench);
    const durationMs = clock.monotonic() - startedAt;
    if (problem instanceof NotApplicable && left === undefined) return { ...known, outcome: 'not-applicable', message: problem.message, durationMs };
    const failures = [problem instanceof NotApplicable ? undefined : problem, left].filter((each) => each !== undefined);
    const [first] = failures;
    if (first === undefined) return { ...known, outcome: 'passed', durationMs };
    const clause = first.clause ?? test.clause;
    return {
      ...known,
      clause,
      outcome: failures.some((each) => (each.clause ?? test.clause).level === 'must') ? 'failed' : 'warned',
      message: failures.map(({ message }) => message).join('\n'),
      durationMs,
      replay: first.replay ?? ['--focus', `^${escapePattern(id)}$`, '--seed', String(this.#context.options.seed)],
      log: this.#log().slice(logLength).slice(-mostLog),
    };
  }

  /** Starts a driver that has died. Resolves with the reason if that fails. */
  async revive(): Promise<string | undefined> {
    for (const { driver } of this.#nodes) {
      if (!driver.canRestart || driver.isRunning) continue;
      try {
        await driver.restart('SIGKILL');
      } catch (error) {
        if (!(await driver.startEmpty().catch(() => false))) return textOf(error);
      }
    }
    return undefined;
  }

  /** Undoes what the case made, and compares what is left with what was there before. */
  async #cleanUp(bench: Bench): Promise<Violation | undefined> {
    if ((await this.revive()) !== undefined) return undefined;
    let failures = await bench.ledger.undoAll();
    if (failures.length > 0 && bench.driver.canRestart) await bench.driver.restart('SIGKILL').catch(() => undefined);
    if (failures.length > 0) failures = [`cleaning up failed: ${failures.join('; ')}`];
    try {
      const now = await takeInventory(bench.inventorySources());
      const left = leaks(this.#inventory, now);
      this.#inventory = now;
      if (left.length > 0)
        failures = [...failures, `leaked: ${left.slice(0, mostLeaks).join(', ')}${left.length > mostLeaks ? ` and ${left.length - mostLeaks} more` : ''}`];
    } catch (error) {
      failures = [...failures, `the lists cannot be read: ${textOf(error)}`];
    }
    return failures.length === 0 ? undefined : new Violation(failures.join('\n'), clauses.retried);
  }

  async #unexpectedEnd(): Promise<Violation | undefined> {
    for (const { driver } of this.#nodes) {
      const ended = await driver.unexpectedEnd();
      if (ended !== undefined) return new Violation(`the driver ended by itself: ${ended}`, clauses.status);
    }
    return undefined;
  }

  #benchFor(id: string, index: number): Bench {
    const { drivers, options, machine, world, randomOf } = this.#context;
    return new Bench({
      driver: drivers[0],
      nodes: this.#nodes,
      offered: this.offered,
      options,
      machine,
      world,
      ownFiles: this.#ownFiles,
      existing: this.#existing,
      random: randomOf(hash(id) ^ options.seed),
      runId: `${this.#runId}-${index}`,
    });
  }

  #log(): string {
    return this.#context.drivers.map((driver) => driver.log()).join('');
  }
}

const mostLog = 4000;
const mostLeaks = 10;

async function failureOf(task: () => Promise<void>): Promise<Violation | NotApplicable | undefined> {
  try {
    await task();
    return undefined;
  } catch (error) {
    if (error instanceof Violation || error instanceof NotApplicable) return error;
    if (error instanceof RpcError) return new Violation(`a call that has to succeed answers ${textOf(error)}`);
    if (error instanceof DriverUnavailable) return new Violation(error.message, clauses.retried);
    return new Violation(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
