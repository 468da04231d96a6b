/** An effect outside a component that is about to happen: a write, or a driver call. */
export interface PendingEffect {
  /** The component or person: 'controllers-1', 'user'. */
  readonly who: string;
  readonly what: string;
  readonly body?: unknown;
  /** The component may crash before or after the effect. */
  readonly canCrash: boolean;
}

/** `crash-before`, `crash-after`: the component crashes before its effect, or before it gets the answer. */
export type GateVerdict = 'go' | 'crash-before' | 'crash-after';

interface Waiting {
  readonly effect: PendingEffect;
  readonly answer: (verdict: GateVerdict) => void;
}

/** One way on from a state. */
export interface GateOption {
  readonly effect: PendingEffect;
  readonly verdict: GateVerdict;
  readonly index: number;
}

/** Every effect waits here until the explorer chooses it: so the explorer decides the order of all effects. */
export class Gate {
  #waiting: Waiting[] = [];
  #isOpen = true;
  /** Components with an effect since time moved on. */
  readonly #acted = new Set<string>();

  /** Effects wait from now on. */
  close(): void {
    this.#isOpen = false;
  }

  pass(effect: PendingEffect): Promise<GateVerdict> {
    if (this.#isOpen) return Promise.resolve('go');
    return new Promise((answer) => this.#waiting.push({ effect, answer }));
  }

  get pending(): readonly PendingEffect[] {
    return this.#waiting.map(({ effect }) => effect);
  }

  /** Each effect may be next; each component that waits for one may crash before it, or right after it. Always in the same order. */
  options(mayCrash: boolean): readonly GateOption[] {
    const all = this.#waiting.map(({ effect }, index): GateOption => ({ effect, verdict: 'go', index }));
    if (!mayCrash) return all;
    const canCrash = all.filter(({ effect }) => effect.canCrash);
    // A crash drops all pending effects of a component, so the choice among them makes no difference. Nor does a crash right after its last
    // effect differ from one before its next: the component restarts when time moves on, which happens only when no effect waits here.
    const before = canCrash.filter(({ effect }, i) => !this.#acted.has(effect.who) && canCrash.findIndex((other) => other.effect.who === effect.who) === i);
    return [
      ...all,
      ...canCrash.map((option): GateOption => ({ ...option, verdict: 'crash-after' })),
      ...before.map((option): GateOption => ({ ...option, verdict: 'crash-before' })),
    ];
  }

  choose({ effect, verdict, index }: GateOption): void {
    const [chosen] = this.#waiting.splice(index, 1);
    this.#acted.add(effect.who);
    if (verdict === 'crash-before') this.#waiting = this.#waiting.filter((other) => other.effect.who !== effect.who);
    chosen?.answer(verdict);
  }

  /** Nothing waits, and time moves on. */
  timeMoves(): void {
    this.#acted.clear();
  }

  /** A component crashed: none of its pending effects happens. */
  drop(who: string): void {
    this.#waiting = this.#waiting.filter(({ effect }) => effect.who !== who);
  }
}
