/**
 * What evaluating an expression costs, counted while it runs, in the units of cel-go: 1 for each name, field, index and call, more for what grows with its
 * arguments. An expression that costs more than it may ends there: nobody's rule and nobody's object keep the server busy.
 */
import type { ASTNode } from '@marcbachmann/cel-js';

export class CostLimitExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** What has been spent of a limit, and the values of the arguments that are being gathered. */
export class Meter {
  spent = 0;
  readonly #limit: number;
  readonly values: unknown[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Throws for every node after the limit, too: `||` would take an error on its left for a detour. */
  spend(cost: number): void {
    this.spent += cost;
    if (this.spent > this.#limit) throw new CostLimitExceeded();
  }
}

/** A node as the evaluator sees it: more than what its types tell. */
interface RuntimeNode {
  readonly op: ASTNode['op'] | 'comprehension' | 'accuValue' | 'accuInc' | 'accuPush';
  args: unknown;
  readonly meta: { readonly alternate?: RuntimeNode; readonly macro?: Evaluable; readonly evaluate: Evaluate };
  evaluate: Evaluate;
}

type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown;

interface Evaluable {
  readonly evaluate: Evaluate;
}

/** Makes a checked expression count. `current`: on which meter, while it runs. */
export function meter(ast: ASTNode, current: () => Meter): void {
  for (const node of nodesOf(ast as unknown as RuntimeNode)) {
    const { alternate, macro } = node.meta;
    if (alternate !== undefined) node.evaluate = (evaluator, _, context) => alternate.evaluate(evaluator, alternate, context);
    else {
      const base = baseCosts[node.op] ?? 0;
      const step: Evaluable = macro ?? { evaluate: node.meta.evaluate };
      const count = growing.has(node.op) ? countWithArguments : countAlone;
      node.evaluate = (evaluator, _, context) => {
        const meter = current();
        meter.spend(base);
        return count(node, meter, () => step.evaluate(evaluator, macro ?? node, context));
      };
    }
  }
}

/** What costs the same whatever it is about. */
function countAlone(_: RuntimeNode, { values }: Meter, evaluate: () => unknown): unknown {
  const before = values.length;
  const value = evaluate();
  values.length = before;
  values.push(value);
  return value;
}

function countWithArguments(node: RuntimeNode, meter: Meter, evaluate: () => unknown): unknown {
  const { values } = meter;
  const before = values.length;
  const value = evaluate();
  const extra = callCost(node, values.slice(before), value);
  values.length = before;
  values.push(value);
  meter.spend(extra);
  return value;
}

const LIST = 10;
const MAP = 30;
/** Between two elements: whether to go on, and where. */
const ITERATION = 2;

const baseCosts: Readonly<Partial<Record<RuntimeNode['op'], number>>> = {
  id: 1,
  '.': 1,
  '.?': 1,
  '[]': 1,
  '[?]': 1,
  list: LIST,
  map: MAP,
  comprehension: 1,
  accuPush: LIST,
};

/** What costs more the more it is given. */
const growing: ReadonlySet<RuntimeNode['op']> = new Set([
  ...(['comprehension', 'call', 'rcall', 'in', '+', '-', '*', '/', '%'] as const),
  ...(['==', '!=', '<', '<=', '>', '>=', '!_', '-_'] as const),
]);

const TRAVERSAL = 0.1;
const REGEX = 0.25;

const traversing = (size: number): number => Math.ceil(size * TRAVERSAL);

/** What a call costs by its arguments (the receiver first). */
function callCost(node: RuntimeNode, args: readonly unknown[], result: unknown): number {
  const { op } = node;
  if (op === 'comprehension') return ITERATION * args.length;
  if (op === 'call' || op === 'rcall') {
    const [name] = node.args as [string];
    // Arguments of calls are evaluated from the last to the first.
    return Object.hasOwn(functionCosts, name) ? (functionCosts[name]?.(args.map(sizeOf).reverse(), sizeOf(result)) ?? 1) : 1;
  }
  const [left = 0, right = 0] = args.map(sizeOf);
  switch (op) {
    case '+':
      return Math.max(1, traversing(left + right));
    case 'in':
      return Math.max(1, Array.isArray(args[1]) ? right : 1);
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return Math.max(1, traversing(Math.min(left, right)));
    case '-':
    case '*':
    case '/':
    case '%':
    case '!_':
    case '-_':
      return 1;
    default:
      return 0;
  }
}

type FunctionCost = (sizes: readonly number[], result: number) => number;

const once: FunctionCost = ([size = 1]) => traversing(size);
const twice: FunctionCost = ([size = 1]) => traversing(2 * size);
const each: FunctionCost = ([size = 1]) => size;
const regex: FunctionCost = ([text = 1, pattern = 1]) => traversing(1 + text) * Math.ceil(pattern * REGEX);
const prefix: FunctionCost = ([, size = 1]) => traversing(size);

const functionCosts: Readonly<Record<string, FunctionCost>> = {
  contains: ([text = 1, part = 1]) => traversing(text) * traversing(part),
  startsWith: prefix,
  endsWith: prefix,
  find: regex,
  findAll: regex,
  matches: regex,
  matchesPattern: regex,
  isSorted: each,
  sum: each,
  max: each,
  min: each,
  indexOf: each,
  lastIndexOf: each,
  url: once,
  isURL: once,
  lowerAscii: once,
  upperAscii: once,
  substring: once,
  trim: once,
  quantity: once,
  isQuantity: once,
  isIP: once,
  isCIDR: once,
  ip: once,
  cidr: once,
  string: once,
  bytes: once,
  format: once,
  replace: twice,
  split: twice,
  join: (_, result) => traversing(2 * result),
};

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof Map || value instanceof Set) return value.size;
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null ? Object.keys(value).length : 1;
}

/** A node, and all that are below it: as arguments, or as what a macro became. */
function nodesOf(root: RuntimeNode): ReadonlySet<RuntimeNode> {
  const found = new Set<RuntimeNode>();
  const seen = new Set<unknown>();
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const one = waiting.pop();
    if (typeof one !== 'object' || one === null || seen.has(one)) continue;
    seen.add(one);
    if (isNode(one)) {
      found.add(one);
      waiting.push(one.args, one.meta.alternate, one.meta.macro);
    } else if (Array.isArray(one)) for (const part of one) waiting.push(part);
    // What a macro keeps: its own nodes among functions and contexts.
    else if (Object.getPrototypeOf(one) === Object.prototype) waiting.push(...Object.values(one));
  }
  return found;
}

const isNode = (value: object): value is RuntimeNode => 'op' in value && 'args' in value && 'meta' in value;

/** Calls of one function become calls of another: the language has no way to replace what it comes with. Before the expression is checked. */
export function rename(ast: ASTNode, { from, to }: { from: string; to: string }): void {
  for (const node of nodesOf(ast as unknown as RuntimeNode)) {
    if (node.op === 'rcall' && Array.isArray(node.args) && node.args[0] === from) node.args[0] = to;
  }
}
