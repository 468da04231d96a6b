/** Something that is about to change the world outside a program: a write, or a call of a driver. */
export interface PendingEffect {
  /** Whose it is: 'controllers-1', 'user'. */
  readonly who: string;
  readonly what: string;
  readonly body?: unknown;
  /** A program that can die over it. */
  readonly mortal: boolean;
}

/** `die-before`, `die-after`: the program dies before its effect, or before it hears of it. */
export type GateVerdict = 'go' | 'die-before' | 'die-after';

interface Waiting {
  readonly held: PendingEffect;
  readonly answer: (verdict: GateVerdict) => void;
}

/** One way on from here. */
export interface GateOption {
  readonly held: PendingEffect;
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

  pass(held: PendingEffect): Promise<GateVerdict> {
    if (this.#isOpen) return Promise.resolve('go');
    return new Promise((answer) => this.#waiting.push({ held, answer }));
  }

  get held(): readonly PendingEffect[] {
    return this.#waiting.map(({ held }) => held);
  }

  /** Each effect may be next; each program that waits for one may die instead, or right behind it. In an order that does not change. */
  options(mayDie: boolean): readonly GateOption[] {
    const all = this.#waiting.map(({ held }, index): GateOption => ({ held, verdict: 'go', index }));
    if (!mayDie) return all;
    const mortal = all.filter(({ held }) => held.mortal);
    // Whatever a program had under way dies with it: which of its effects it dies before makes no difference. Nor is it another history if it has
    // died behind its last one already: it is started again when time moves on, which it does only when nothing waits here.
    const before = mortal.filter(({ held }, i) => !this.#acted.has(held.who) && mortal.findIndex((other) => other.held.who === held.who) === i);
    return [
      ...all,
      ...mortal.map((option): GateOption => ({ ...option, verdict: 'die-after' })),
      ...before.map((option): GateOption => ({ ...option, verdict: 'die-before' })),
    ];
  }

  choose({ held, verdict, index }: GateOption): void {
    const [chosen] = this.#waiting.splice(index, 1);
    this.#acted.add(held.who);
    if (verdict === 'die-before') this.#waiting = this.#waiting.filter((other) => other.held.who !== held.who);
    chosen?.answer(verdict);
  }

  /** Nothing waits, and time moves on. */
  timeMoves(): void {
    this.#acted.clear();
  }

  /** A program died: nothing of what it had under way happens. */
  drop(who: string): void {
    this.#waiting = this.#waiting.filter(({ held }) => held.who !== who);
  }
}
