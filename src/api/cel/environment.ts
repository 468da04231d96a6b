/**
 * The Common Expression Language, in which rules are written. What evaluates it is loaded when the first definition is written:
 * most servers never need it.
 */
import type { Environment } from '@marcbachmann/cel-js';
import { registerExtensions } from './extensions.ts';

export interface Expression {
  /** @throws Error in CEL's words, e.g. for a field that is not there */
  readonly evaluate: (variables: Readonly<Record<string, unknown>>) => unknown;
}

export interface Cel {
  /** Compiled once for each text. @throws Error if it is no expression */
  compile(text: string): Expression;
  /** A value that may not be there, as expressions know it. */
  optional(value: unknown): unknown;
}

/** Expressions are kept by their text: definitions come and go, and so may these. */
const MAX_COMPILED = 10_000;

class LoadedCel implements Cel {
  readonly #environment: Environment;
  readonly #compiled = new Map<string, Expression>();

  readonly optional: (value: unknown) => unknown;

  constructor(environment: Environment, optional: (value: unknown) => unknown) {
    this.#environment = environment;
    this.optional = optional;
  }

  compile(text: string): Expression {
    const known = this.#compiled.get(text);
    if (known !== undefined) return known;
    const parsed = this.#environment.parse(text);
    const checked = parsed.check();
    if (!checked.valid) throw checked.error ?? new Error('the expression does not fit its types');
    const expression: Expression = { evaluate: (variables) => parsed({ ...variables }) };
    if (this.#compiled.size >= MAX_COMPILED) this.#compiled.clear();
    this.#compiled.set(text, expression);
    return expression;
  }
}

let loaded: Cel | undefined;
let loading: Promise<Cel> | undefined;

/** What an expression may be at most: it runs at every write. */
const limits = { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1_000, maxMapEntries: 1_000, maxCallArguments: 32 };

/** Everything that the language has in Kubernetes, but no variables: who reads rules about other things than custom resources adds theirs. */
export async function loadLanguage(): Promise<{ readonly environment: Environment; readonly optional: (value: unknown) => unknown }> {
  const { Environment: Loaded, Optional } = await import('@marcbachmann/cel-js');
  const environment = registerExtensions(new Loaded({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits }));
  return { environment, optional: (value) => (value === undefined ? Optional.none() : Optional.of(value)) };
}

export function loadCel(): Promise<Cel> {
  loading ??= loadLanguage().then(({ environment, optional }) => {
    environment.registerVariable('self', 'dyn').registerVariable('oldSelf', 'dyn');
    loaded = new LoadedCel(environment, optional);
    return loaded;
  });
  return loading;
}

/** undefined: nobody has loaded it yet. */
export const loadedCel = (): Cel | undefined => loaded;
