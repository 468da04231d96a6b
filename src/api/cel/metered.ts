/**
 * The cost of an evaluation, counted while it runs, in cel-go's units: 1 for each name, field, index and call, more for calls that grow with their
 * arguments. An expression that exceeds its limit ends: no rule and no object keeps the server busy.
 */
import type { ASTNode } from '@marcbachmann/cel-js';

export class CostLimitExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** The spent part of a limit. */
export class Meter {
  spent = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Throws for every node after the limit, too: `||` ignores an error on its left. */
  spend(cost: number): void {
    this.spent += cost;
    if (this.spent > this.#limit) throw new CostLimitExceeded();
  }
}

/** A node as the evaluator sees it, with fields that cel-js's types lack. */
export interface RuntimeNode {
  readonly op: ASTNode['op'] | 'comprehension' | 'accuValue' | 'accuInc' | 'accuPush';
  args: unknown;
  readonly meta: { readonly alternate?: RuntimeNode; readonly macro?: Evaluable; readonly evaluate: Evaluate };
  evaluate: Evaluate;
  /** The evaluation of an operator or a call. */
  handle?: (...given: unknown[]) => unknown;
}

type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown;

interface Evaluable {
  readonly evaluate: Evaluate;
}

/** Makes a checked expression count its cost. `current`: the meter of the running evaluation. */
export function meter(ast: ASTNode, current: () => Meter): void {
  const nodes = nodesOf(ast as unknown as RuntimeNode);
  const steps = new Set([...nodes].flatMap(({ op, args }) => (op === 'comprehension' ? [(args as { step: RuntimeNode }).step] : [])));
  for (const node of nodes) {
    const { alternate, macro } = node.meta;
    if (alternate !== undefined) {
      node.evaluate = (evaluator, _, context) => alternate.evaluate(evaluator, alternate, context);
      continue;
    }
    const cost = (baseCosts[node.op] ?? 0) + (steps.has(node) ? ITERATION : 0);
    const step: Evaluable = macro ?? { evaluate: node.meta.evaluate };
    const subject = macro ?? node;
    node.evaluate = (evaluator, _, context) => {
      current().spend(cost);
      return step.evaluate(evaluator, subject, context);
    };
    meterOperands(node, current);
  }
}

/** Calls whose cost grows with their arguments. */
function meterOperands(node: RuntimeNode, current: () => Meter): void {
  const { op, handle } = node;
  const byOperands = operatorCosts[op];
  if (handle === undefined) return;
  if (byOperands !== undefined) {
    node.handle = (left, right, ...more) => {
      current().spend(byOperands(left, right));
      return handle(left, right, ...more);
    };
  } else if (op === 'call' || op === 'rcall') {
    const [name] = node.args as [string];
    const byArguments = Object.hasOwn(functionCosts, name) ? functionCosts[name] : undefined;
    if (byArguments === undefined) return;
    node.handle = (given, ...more) => {
      // 1 was spent on the call itself.
      current().spend(byArguments((given as readonly unknown[]).map(sizeOf)) - 1);
      return handle(given, ...more);
    };
  }
}

const LIST = 10;
const MAP = 30;
/** The step between two elements of a comprehension. */
const ITERATION = 2;

const baseCosts: Readonly<Partial<Record<RuntimeNode['op'], number>>> = {
  id: 1,
  '.': 1,
  '.?': 1,
  '[]': 1,
  '[?]': 1,
  call: 1,
  rcall: 1,
  '-': 1,
  '*': 1,
  '/': 1,
  '%': 1,
  '!_': 1,
  '-_': 1,
  list: LIST,
  map: MAP,
  comprehension: 1,
  accuPush: LIST,
};

const TRAVERSAL = 0.1;
const REGEX = 0.25;

const traversing = (size: number): number => Math.ceil(size * TRAVERSAL);

type OperatorCost = (left: unknown, right: unknown) => number;

const comparing: OperatorCost = (left, right) => Math.max(1, traversing(Math.min(sizeOf(left), sizeOf(right))));

const operatorCosts: Readonly<Partial<Record<RuntimeNode['op'], OperatorCost>>> = {
  '+': (left, right) => Math.max(1, traversing(sizeOf(left) + sizeOf(right))),
  in: (_, right) => (Array.isArray(right) ? Math.max(1, right.length) : 1),
  '==': comparing,
  '!=': comparing,
  '<': comparing,
  '<=': comparing,
  '>': comparing,
  '>=': comparing,
};

/** By the sizes of the arguments, the receiver's first. */
type FunctionCost = (sizes: readonly number[]) => number;

const once: FunctionCost = ([size = 1]) => traversing(size);
const twice: FunctionCost = ([size = 1]) => traversing(2 * size);
const each: FunctionCost = ([size = 1]) => size;
const regex: FunctionCost = ([text = 1, pattern = 1]) => traversing(1 + text) * Math.ceil(pattern * REGEX);
const lists: FunctionCost = ([, one = 1, other = 1]) => Math.max(1, one * other);
const prefix: FunctionCost = ([, size = 1]) => traversing(size);

const functionCosts: Readonly<Record<string, FunctionCost>> = {
  // Of a string, or, with `sets`, of two lists.
  contains: ([text = 1, part = 1, more]) => (more === undefined ? traversing(text) * traversing(part) : Math.max(1, part * more)),
  equivalent: lists,
  intersects: lists,
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
  containsIP: once,
  containsCIDR: once,
  semver: once,
  isSemver: once,
  isCanonical: once,
  string: once,
  bytes: once,
  format: once,
  replace: twice,
  split: twice,
  // The length of a joined string is not known before: each item counts.
  join: twice,
};

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (value instanceof Map || value instanceof Set) return value.size;
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null ? Object.keys(value).length : 1;
}

/** A node and all nodes below it, also those of expanded macros. */
export function nodesOf(root: RuntimeNode): ReadonlySet<RuntimeNode> {
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
    // A macro keeps its nodes among functions and contexts.
    else if (Object.getPrototypeOf(one) === Object.prototype) waiting.push(...Object.values(one));
  }
  return found;
}

const isNode = (value: object): value is RuntimeNode => 'op' in value && 'args' in value && 'meta' in value;

/** Renames the calls of a function before the check: cel-js cannot replace built-in functions. */
export function rename(ast: ASTNode, { from, to }: { from: string; to: string }): void {
  for (const node of nodesOf(ast as unknown as RuntimeNode)) {
    if (node.op === 'rcall' && Array.isArray(node.args) && node.args[0] === from) node.args[0] = to;
  }
}
