/**
 * The Common Expression Language. cel-js is loaded at the first write of a definition:
 * most servers never need it.
 */
import type { Environment, ParseResult } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';
import { type FieldChain, fieldChains } from './field-chains.ts';
import { registerExtensions } from './extensions.ts';
import { loadPatterns } from '../pattern.ts';
import { allowAnyOperandOfHas } from './has-macro.ts';
import { Meter, meter, rename } from './metered.ts';

export interface Expression {
  /** @throws Error in CEL's words, e.g. for a missing field; CostLimitExceeded */
  readonly evaluate: (variables: Readonly<Record<string, unknown>>) => unknown;
  readonly fields: readonly FieldChain[];
  /** The same with its cost: the caller keeps the budget of several expressions. */
  readonly run: (variables: Readonly<Record<string, unknown>>) => Run;
}

/** A value or an error. */
export interface Run {
  readonly value?: unknown;
  readonly error?: Error;
  readonly cost: number;
}

/** The cost limit of one evaluation (v1.36.4: PerCallLimit). */
const MAX_COST = 1_000_000;

export interface Cel {
  /** Compiled once for each text. `optionalOld`: `oldSelf` is optional (optionalOldSelf). @throws Error if it does not compile */
  compile(text: string, optionalOld?: boolean): Expression;
  /** The type of an expression, given the types of its variables. */
  check(text: string, variables: Readonly<Record<string, Declared>>): Checked;
  /** A CEL optional. */
  optional(value: unknown): unknown;
}

/** 'int', 'list<string>', 'dyn' (any type), or fields. */
export type Declared = string | { readonly [field: string]: Declared };

/** A type or an error. */
export interface Checked {
  readonly type?: string | undefined;
  readonly error?: Error | undefined;
}

const MAX_COMPILED = 10_000;

interface Compiler {
  readonly environment: Environment;
  /** By text. Users write the texts: a cache that was cleared when full would let one of them slow down all others. */
  readonly compiled: LRUCache<string, Expression>;
}

class LoadedCel implements Cel {
  readonly #usual: Compiler;
  readonly #withOptional: Compiler;
  /** Without variables. */
  readonly #language: Environment;

  readonly optional: (value: unknown) => unknown;

  constructor(language: Environment, optional: (value: unknown) => unknown) {
    this.#language = language;
    const compiler = (old: string): Compiler => ({
      environment: language.clone().registerVariable('self', 'dyn').registerVariable('oldSelf', old),
      compiled: new LRUCache<string, Expression>({ max: MAX_COMPILED }),
    });
    this.#usual = compiler('dyn');
    this.#withOptional = compiler('optional<dyn>');
    this.optional = optional;
  }

  compile(text: string, optionalOld = false): Expression {
    const { environment, compiled } = optionalOld ? this.#withOptional : this.#usual;
    const known = compiled.get(text);
    if (known !== undefined) return known;
    const parsed = parse(environment, text);
    const checked = parsed.check();
    if (!checked.valid) throw checked.error ?? new Error('the expression does not fit its types');
    const expression = metered(parsed);
    compiled.set(text, expression);
    return expression;
  }

  check(text: string, variables: Readonly<Record<string, Declared>>): Checked {
    const environment = this.#language.clone();
    try {
      for (const [name, type] of Object.entries(variables)) {
        if (typeof type === 'string') environment.registerVariable(name, type);
        else environment.registerVariable({ name, schema: type });
      }
    } catch {
      // Names that CEL cannot express: the types are not known.
      return {};
    }
    const { valid, type, error } = parse(environment, text).check();
    return valid ? { type } : { error };
  }
}

/** cel-go's own limit. */
const MAX_EXPRESSION_LENGTH = 100_000;

/** Not checked yet. Calls of cel-js's own `matches`, which backtracks, are replaced. */
export function parse(environment: Environment, text: string): ParseResult {
  if (text.length > MAX_EXPRESSION_LENGTH) throw new Error(`expression code point size exceeds limit: size: ${text.length}, limit ${MAX_EXPRESSION_LENGTH}`);
  const parsed = environment.parse(text);
  rename(parsed.ast, { from: 'matches', to: 'matchesPattern' });
  allowAnyOperandOfHas(parsed.ast);
  return parsed;
}

/** `parsed`: a checked expression. */
export function metered(parsed: ParseResult): Expression {
  // Evaluation is synchronous: one meter at a time.
  let running = new Meter(MAX_COST);
  const fields = fieldChains(parsed.ast);
  meter(parsed.ast, () => running);
  const run = (variables: Readonly<Record<string, unknown>>): Run => {
    running = new Meter(MAX_COST);
    try {
      const value: unknown = parsed({ ...variables });
      return { value, cost: running.spent };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)), cost: running.spent };
    }
  };
  const evaluate = (variables: Readonly<Record<string, unknown>>): unknown => {
    const { value, error } = run(variables);
    if (error !== undefined) throw error;
    return value;
  };
  return { evaluate, run, fields };
}

let loaded: Cel | undefined;
let loading: Promise<Cel> | undefined;

/** The limits of one expression: it runs at every write. */
const limits = { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1_000, maxMapEntries: 1_000, maxCallArguments: 32 };

/** CEL with Kubernetes' libraries, without variables. */
export async function loadLanguage(): Promise<{ readonly environment: Environment; readonly optional: (value: unknown) => unknown }> {
  const [{ Environment: Loaded, Optional }] = await Promise.all([import('@marcbachmann/cel-js'), loadPatterns()]);
  const optional = (value: unknown): unknown => (value === undefined ? Optional.none() : Optional.of(value));
  const environment = registerExtensions(new Loaded({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits }), optional);
  return { environment, optional };
}

export function loadCel(): Promise<Cel> {
  loading ??= loadLanguage().then(({ environment, optional }) => {
    loaded = new LoadedCel(environment, optional);
    return loaded;
  });
  return loading;
}

/** undefined: not loaded yet. */
export const loadedCel = (): Cel | undefined => loaded;
