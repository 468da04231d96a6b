import type { EffectMoment, Fault } from './plan/faults.ts';

export interface ArmedCrash {
  writes: number;
  readonly moment: EffectMoment;
  readonly backMs: number;
}

/** Crashes of components at one of their next writes. */
export class ArmedCrashes {
  readonly #armed = new Map<string, ArmedCrash[]>();

  arm({ component, writes, moment, backMs }: Extract<Fault, { kind: 'crash' }>): void {
    this.#armed.set(component, [...(this.#armed.get(component) ?? []), { writes, moment, backMs }]);
  }

  heal(): void {
    this.#armed.clear();
  }

  /** The crash that is due with this write. */
  due(component: string): ArmedCrash | undefined {
    const armed = this.#armed.get(component) ?? [];
    for (const crash of armed) crash.writes--;
    const index = armed.findIndex(({ writes }) => writes < 0);
    return index < 0 ? undefined : armed.splice(index, 1)[0];
  }
}
