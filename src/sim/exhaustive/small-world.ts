import type { Facts } from '../invariants/facts.ts';
import type { Violation } from '../invariants/observer.ts';
import { type Action, describe } from '../workloads/actions.ts';
import { Performer } from '../workloads/perform.ts';
import type { SimulatedWorld } from '../world.ts';
import type { Plan } from '../worlds/plan.ts';
import { RunningWorld } from '../worlds/running.ts';
import { settle } from '../worlds/settle.ts';
import type { Gate, Option } from './gate.ts';
import type { Story } from './stories.ts';

export interface SmallWorldOptions {
  readonly world: SimulatedWorld;
  readonly story: Story;
  readonly gate: Gate;
  readonly onViolation: (violation: Violation) => void;
}

/** Nobody fails here for long, so nobody waits for long. */
const quietMs = 40_000;

/** The cluster of random worlds, as small as can be, with a gate before every effect. */
export class SmallWorld {
  readonly #running: RunningWorld;
  readonly #options: SmallWorldOptions;

  constructor(options: SmallWorldOptions) {
    const { story, world, gate, onViolation } = options;
    const plan: Plan = { seed: 1, settings: story.settings, happenings: [], faults: [] };
    this.#options = options;
    this.#running = new RunningWorld(world, plan, { onViolation, gate });
  }

  get facts(): Facts {
    return this.#running.observer.facts;
  }

  get revisions(): ReadonlySet<number> {
    return this.#running.observer.revisions;
  }

  /** Since the beginning: what waits for minutes to pass is another state later. */
  get minute(): number {
    return Math.floor(this.#options.world.clock.monotonic() / 60_000);
  }

  get timeline(): readonly string[] {
    return this.#running.timeline.lines;
  }

  note({ held, verdict }: Option): void {
    if (verdict !== 'go') this.#running.timeline.add('fault', `${held.who} dies ${verdict === 'die-before' ? 'before' : 'behind'} ${held.what}`);
  }

  /** What was there before, at once; then everybody does their part, each in order, but at any time. */
  async play(): Promise<Violation | undefined> {
    const { story, gate } = this.#options;
    await this.#running.start();
    await this.#perform(story.given);
    await this.#options.world.sleep(20_000);
    gate.close();
    await Promise.all(story.actors.map((actions, number) => this.#act(`person ${number + 1}`, actions)));
    return await settle(this.#running, quietMs);
  }

  async #perform(actions: readonly Action[]): Promise<void> {
    const { world, client, disks, machines } = this.#running;
    const performer = new Performer({ world, client, disks, machines });
    for (const action of actions) await performer.perform(action);
  }

  async #act(who: string, actions: readonly Action[]): Promise<void> {
    for (const action of actions) {
      const what = describe(action);
      await this.#options.gate.pass({ who, what, mortal: false });
      this.#running.timeline.add(who, what);
      await this.#perform([action]);
    }
  }
}
