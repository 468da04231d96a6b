/** Something that is about to change the world outside a program: a write, or a call of a driver. */
export interface PendingEffect {
  /** Whose it is: 'controllers-1', 'user'. */
  readonly who: string;
  readonly what: string;
  readonly body?: unknown;
  /** A program that can die over it. */
  readonly canCrash: boolean;
}

/** `die-before`, `die-after`: the program dies before its effect, or before it hears of it. */
export type GateVerdict = 'go' | 'crash-before' | 'crash-after';

interface Waiting {
  readonly effect: PendingEffect;
  readonly answer: (verdict: GateVerdict) => void;
}

/** One way on from here. */
export interface GateOption {
  readonly effect: PendingEffect;
  readonly verdict: GateVerdict;
  readonly index: number;
}

/** Whatever has an effect waits here until it is told to go: so the order of all effects can be chosen. */
export class Gate {
  #waiting: Waiting[] = [];
  #isOpen = true;
  /** Programs with an effect since time moved on. */
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

  /** Each effect may be next; each program that waits for one may die instead, or right behind it. In an order that does not change. */
  options(mayCrash: boolean): readonly GateOption[] {
    const all = this.#waiting.map(({ effect }, index): GateOption => ({ effect, verdict: 'go', index }));
    if (!mayCrash) return all;
    const canCrash = all.filter(({ effect }) => effect.canCrash);
    // Whatever a program had under way dies with it: which of its effects it dies before makes no difference. Nor is it another history if it has
    // died behind its last one already: it is started again when time moves on, which it does only when nothing waits here.
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

  /** A program died: nothing of what it had under way happens. */
  drop(who: string): void {
    this.#waiting = this.#waiting.filter(({ effect }) => effect.who !== who);
  }
}
