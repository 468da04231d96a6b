import type { Facts } from '../invariants/facts.ts';
import type { Violation } from '../invariants/observer.ts';
import { type UserAction, describeAction } from '../fuzz/plan/user-actions.ts';
import { UserActionPerformer } from '../fuzz/perform-user-action.ts';
import type { SimulatedWorld } from '../world/world.ts';
import type { FuzzPlan } from '../fuzz/plan/plan.ts';
import { FuzzWorld } from '../fuzz/fuzz-world.ts';
import { settle } from '../fuzz/settle.ts';
import type { Gate, GateOption } from '../fuzz/gate.ts';
import type { ExplorationCase } from './cases.ts';

export interface SmallWorldOptions {
  readonly world: SimulatedWorld;
  readonly exploration: ExplorationCase;
  readonly gate: Gate;
  readonly onViolation: (violation: Violation) => void;
}

/** Shorter than in random worlds: backoffs are short here. */
const quietMs = 40_000;

/** The cluster of `moor fuzz`, as small as possible, with a gate before every effect. */
export class SmallWorld {
  readonly #running: FuzzWorld;
  readonly #options: SmallWorldOptions;

  constructor(options: SmallWorldOptions) {
    const { exploration, world, gate, onViolation } = options;
    const plan: FuzzPlan = { seed: 1, settings: exploration.settings, actions: [], faults: [] };
    this.#options = options;
    this.#running = new FuzzWorld(world, plan, { onViolation, gate });
  }

  get facts(): Facts {
    return this.#running.observer.facts;
  }

  get revisions(): ReadonlySet<number> {
    return this.#running.observer.revisions;
  }

  /** Minutes since the beginning: a state that waits for time to pass differs later. */
  get minute(): number {
    return Math.floor(this.#options.world.clock.monotonic() / 60_000);
  }

  get timeline(): readonly string[] {
    return this.#running.timeline.lines;
  }

  note({ effect, verdict }: GateOption): void {
    if (verdict !== 'go') this.#running.timeline.add('fault', `${effect.who} crashes ${verdict === 'crash-before' ? 'before' : 'after'} ${effect.what}`);
  }

  /** `given` first; then each actor performs its actions in order, at any time. */
  async play(): Promise<Violation | undefined> {
    const { exploration, gate } = this.#options;
    await this.#running.start();
    await this.#perform(exploration.given);
    await this.#options.world.sleep(20_000);
    gate.close();
    await Promise.all(exploration.actors.map((actions, number) => this.#act(`person ${number + 1}`, actions)));
    return await settle(this.#running, quietMs);
  }

  async #perform(actions: readonly UserAction[]): Promise<void> {
    const { world, client, disks, machines, conduct } = this.#running;
    const performer = new UserActionPerformer({ world, client, disks, machines, write: () => undefined, ...conduct });
    for (const action of actions) await performer.perform(action);
  }

  async #act(who: string, actions: readonly UserAction[]): Promise<void> {
    for (const action of actions) {
      const what = describeAction(action);
      await this.#options.gate.pass({ who, what, canCrash: false });
      this.#running.timeline.add(who, what);
      await this.#perform([action]);
    }
  }
}
