/**
 * CEL expressions of admission: match conditions of webhooks, policies. Their variables are `object`, `oldObject`, `request`,
 * `namespaceObject`, and, where allowed, `params`, `authorizer` and `variables`. Loaded at the first write of a configuration.
 */
import type { Environment } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';
import { loadLanguage, metered, parse, type Run } from '../cel/environment.ts';
import { isJsonObject } from '../json.ts';
import { authorizerType, registerAuthorizer } from './authorizer.ts';
import { type ExpressionError, expressionError } from './expression-error.ts';
import { messagesAsMaps } from './messages.ts';

/** Which variables an expression may use. */
export interface ExpressionScope {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** The types of `variables`, by name. */
  readonly variables?: ReadonlyMap<string, string>;
  /** It may construct typed values: `Object{…}`, `JSONPatch{…}`. */
  readonly patches?: boolean;
}

export interface CompiledExpression {
  /** 'bool', 'string', 'dyn' … */
  readonly type: string;
  /** The result and its cost. An error is an ExpressionError. */
  readonly run: (values: Readonly<Record<string, unknown>>) => Run;
}

export type Compilation = { readonly ok: true; readonly compiled: CompiledExpression } | { readonly ok: false; readonly error: ExpressionError };

const MAX_COMPILED = 10_000;

export class Expressions {
  readonly #environments: readonly Environment[];
  readonly #compiled = new LRUCache<string, Compilation>({ max: MAX_COMPILED });

  constructor(language: Environment) {
    registerAuthorizer(language);
    for (const name of ['object', 'oldObject', 'namespaceObject']) language.registerVariable(name, 'dyn');
    language.registerVariable('request', { schema: requestSchema });
    registerEscaping(language);
    this.#environments = [0, 1, 2, 3].map((which) => {
      const environment = language.clone();
      if ((which & 1) !== 0) environment.registerVariable('params', 'dyn');
      if ((which & 2) !== 0) environment.registerVariable('authorizer', authorizerType);
      return environment;
    });
  }

  compile(text: string, scope: ExpressionScope): Compilation {
    const key = `${scope.patches === true ? 'm' : ''}${scope.params ? 'p' : ''}${scope.authorizer ? 'a' : ''}${scope.variables === undefined ? '' : JSON.stringify([...scope.variables])}:${text}`;
    const before = this.#compiled.get(key);
    if (before !== undefined) return before;
    const compilation = compileIn(this.#environmentFor(scope), scope.patches === true ? messagesAsMaps(text) : text);
    this.#compiled.set(key, compilation);
    return compilation;
  }

  #environmentFor({ params, authorizer, variables }: ExpressionScope): Environment {
    const environment = this.#environments[(params ? 1 : 0) + (authorizer ? 2 : 0)];
    if (environment === undefined) throw new Error('there are four environments');
    return variables === undefined ? environment : environment.clone().registerVariable('variables', { schema: Object.fromEntries(variables) });
  }
}

/** The value of `jsonpatch`. */
class JsonPatchLibrary {
  escapeKey(key: string): string {
    return key.replaceAll('~', '~0').replaceAll('/', '~1');
  }
}

/** jsonpatch.escapeKey: escapes a key for a JSON pointer. */
function registerEscaping(language: Environment): void {
  language
    .registerType('kubernetes.JSONPatchLibrary', JsonPatchLibrary)
    .registerConstant('jsonpatch', 'kubernetes.JSONPatchLibrary', new JsonPatchLibrary())
    .registerFunction('kubernetes.JSONPatchLibrary.escapeKey(string): string', (library: JsonPatchLibrary, key: string) => library.escapeKey(key));
}

function compileIn(environment: Environment, text: string): Compilation {
  try {
    const parsed = parse(environment, text);
    const checked = parsed.check();
    if (!checked.valid) return { ok: false, error: expressionError(checked.error, text) };
    const { run } = metered(parsed);
    const runInGoWords = (values: Readonly<Record<string, unknown>>): Run => {
      const outcome = run(values);
      return outcome.error === undefined ? outcome : { ...outcome, error: expressionError(outcome.error, text) };
    };
    return { ok: true, compiled: { type: checked.type === 'null' ? 'null_type' : (checked.type ?? 'dyn'), run: runInGoWords } };
  } catch (error) {
    return { ok: false, error: expressionError(error, text) };
  }
}

const group = { group: 'string', version: 'string' } as const;
const requestSchema = {
  kind: { ...group, kind: 'string' },
  resource: { ...group, resource: 'string' },
  subResource: 'string',
  requestKind: { ...group, kind: 'string' },
  requestResource: { ...group, resource: 'string' },
  requestSubResource: 'string',
  name: 'string',
  namespace: 'string',
  operation: 'string',
  userInfo: { username: 'string', uid: 'string', groups: 'list<string>', extra: 'map<string, list<string>>' },
  dryRun: 'bool',
  options: 'dyn',
} as const;

let loaded: Expressions | undefined;
let loading: Promise<Expressions> | undefined;

export function loadExpressions(): Promise<Expressions> {
  loading ??= loadLanguage().then(({ environment }) => {
    loaded = new Expressions(environment);
    return loaded;
  });
  return loading;
}

/** undefined: not loaded yet. */
export const loadedExpressions = (): Expressions | undefined => loaded;

/** A JSON value as a CEL value: integers become bigint. */
export function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (!isJsonObject(value)) return value ?? null;
  const fields = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) fields[key] = celValue(value[key]);
  return fields;
}
