// Mutation operators: each finds the places of a source file where a programmer could have made one kind of mistake.
import { parseAst } from 'rolldown/parseAst';

/**
 * A mutant: `file` with the text from `start` to `end` replaced. `form`: what the text is. `appended` goes to the end of the file. `probe`: the text
 * that runs a note only if the mutant would have gone on in another way.
 * @typedef {{ operator: string, file: string, line: number, start: number, end: number, original: string, replace: string,
 *   form: 'expression' | 'statements' | 'elements' | 'property', appended?: string, probe?: (note: string) => string, rank: number, nth: number }} Mutant
 */

/**
 * The same text, which also runs `note`: where it can be told, only if the mutant would have gone on in another way. For running only: it may not
 * type-check.
 */
export const noted = ({ form, original, probe }, note) =>
  probe?.(note) ??
  {
    expression: `(${note}, ${original})`,
    statements: `{ ${note}; ${original} }`,
    elements: `...(${note}, []), ${original}`,
    property: `...(${note}, {}), ${original}`,
  }[form];

/** Both texts: the mutant runs where `condition` holds. */
export const chosen = ({ form, original, replace }, condition) =>
  ({
    expression: `(${condition} ? (${replace}) : (${original}))`,
    statements: `if (${condition}) { ${replace} } else { ${original} }`,
    elements: `...(${condition} ? [${replace}] : [${original}])`,
    property: `...(${condition} ? { ${replace} } : { ${original} })`,
  })[form];

/** Calls that change nothing. */
const harmless = /^(isNewer|get|getKey|has|includes|some|every|startsWith|endsWith|test|parse|isArray)$/;

/** Whether an expression may be evaluated twice, or not at all, with no other effect. */
function isPure(node) {
  if (/^(Await|Assignment|Update|Yield|New|TaggedTemplate|Import)Expression$/.test(node.type)) return false;
  if (node.type === 'CallExpression' && !harmless.test(node.callee.name ?? node.callee.property?.name ?? '')) return false;
  return Object.values(node).every((child) =>
    (Array.isArray(child) ? child : [child]).every((each) => each === null || typeof each !== 'object' || typeof each.type !== 'string' || isPure(each)),
  );
}

/** Of a pure expression and its replacement: whether their values differ. */
const differing = (original, replace) => (note) => `((${original}) === (${replace}) ? (${original}) : (${note}, (${original})))`;

const expression = (replace) => ({ replace, form: 'expression' });
const statements = (replace) => ({ replace, form: 'statements' });

const isGuard = ({ type, alternate, consequent }) =>
  type === 'IfStatement' &&
  alternate === null &&
  isExit(consequent.type === 'BlockStatement' && consequent.body.length === 1 ? consequent.body[0] : consequent);
const isExit = ({ type }) => type === 'ReturnStatement' || type === 'ContinueStatement' || type === 'ThrowStatement';

const isAwaited = ({ type, expression: what }) => type === 'ExpressionStatement' && what.type === 'AwaitExpression';
const isCalled = ({ type, expression: what }) => type === 'ExpressionStatement' && what.type === 'CallExpression';

/** What a decision lists is performed in that order. */
const isAction = (node) => node?.type === 'ObjectExpression' && node.properties.some(({ key }) => key?.name === 'do');
const isCall = (node) => node?.type === 'CallExpression';

const counted = /revision|resourceVersion|generation|epoch/i;
const otherBound = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };

const cachedRead = `
const cachedReads = new WeakMap<object, Map<unknown, Map<string, unknown>>>();
function cachedReadsOf(reader: object, kind: unknown): Map<string, unknown> {
  const ofReader = cachedReads.get(reader) ?? new Map<unknown, Map<string, unknown>>();
  cachedReads.set(reader, ofReader);
  const known = ofReader.get(kind) ?? new Map<string, unknown>();
  ofReader.set(kind, known);
  return known;
}
/** The answer of the last read, not of this one. */
function cachedRead<T>(known: Map<string, unknown>, key: string, read: () => T): T {
  const [before, live] = [known.get(key), read()];
  known.set(key, live);
  return (before ?? live) as T;
}
`;

/** By name: from a syntax node to replacements. `rank` 0 is preferred to 1 where places of the first kind are rare. */
const operators = {
  'negated condition': (node, { textOf }) => {
    if (node.type !== 'IfStatement' && node.type !== 'ConditionalExpression') return [];
    return [{ at: node.test, ...expression(`!(${textOf(node.test)})`) }];
  },

  'dropped await': (node, { textOf }) => (isAwaited(node) ? [{ at: node, ...statements(`void ${textOf(node.expression.argument)};`) }] : []),

  'swapped writes': (node, { textOf, text }) => {
    const swap = (a, b) => `${textOf(b)}${text.slice(a.end, b.start)}${textOf(a)}`;
    const inOrder = node.type === 'BlockStatement' ? pairs(node.body) : [];
    const written = inOrder.filter(([a, b]) => (isAwaited(a) || isCalled(a)) && (isAwaited(b) || isCalled(b)) && (isAwaited(a) || isAwaited(b)));
    const decided =
      node.type === 'ArrayExpression' ? pairs(node.elements).filter((pair) => pair.some(isAction) && pair.every((each) => isAction(each) || isCall(each))) : [];
    return [
      ...written.map(([a, b]) => ({ at: { start: a.start, end: b.end }, ...statements(swap(a, b)) })),
      ...decided.map(([a, b]) => ({ at: { start: a.start, end: b.end }, replace: swap(a, b), form: 'elements' })),
    ];
  },

  'removed precondition': (node, { parents, textOf }) => {
    if (isGuard(node)) {
      const probe = isPure(node.test) ? (note) => `if (${textOf(node.test)}) { ${note}; ${textOf(node.consequent)} }` : undefined;
      return [{ at: node, rank: 1, ...statements(';'), probe }];
    }
    if (node.type !== 'Property' || parents.at(-1)?.type !== 'ObjectExpression') return [];
    const name = node.key.name;
    const isPrecondition = name === 'preconditions' || name === 'resourceVersion' || (name === 'uid' && parents.at(-2)?.key?.name === 'preconditions');
    return isPrecondition ? [{ at: node, replace: '...{}', form: 'property' }] : [];
  },

  'cached instead of live read': (node, { textOf }) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression' || node.arguments.length === 0) return [];
    const reader = textOf(node.callee.object);
    if (!/^(get|read|list)$/.test(node.callee.property.name ?? '') || !/(^|[.#])(client|store|api|server)$/i.test(reader)) return [];
    const [first, ...rest] = node.arguments.map(textOf);
    const read = `cachedReadsOf(${reader}, ${first}), JSON.stringify([${rest.join(', ')}]), () => ${textOf(node)}`;
    const probe = (note) => `globalThis.noteRead(() => ${note}, ${read})`;
    return [{ at: node, ...expression(`cachedRead(${read})`), probe, appended: cachedRead }];
  },

  'revision off by one': (node, { textOf, parents }) => {
    const compared = (replace) => ({ at: node, ...expression(replace), probe: isPure(node) ? differing(textOf(node), replace) : undefined });
    if (node.type === 'BinaryExpression' && node.operator in otherBound && [node.left, node.right].some((side) => counted.test(textOf(side))))
      return [compared(`(${textOf(node.left)}) ${otherBound[node.operator]} (${textOf(node.right)})`)];
    if (node.type === 'CallExpression' && node.callee.name === 'isNewer' && node.arguments.length === 2)
      return [compared(`!isNewer(${textOf(node.arguments[1])}, ${textOf(node.arguments[0])})`)];
    const isCounter =
      (node.type === 'MemberExpression' && counted.test(node.property.name ?? '')) ||
      (node.type === 'CallExpression' && node.callee.type === 'MemberExpression' && counted.test(node.callee.property.name ?? ''));
    const above = parents.at(-1);
    const isValue =
      above !== undefined && /^(CallExpression|Property|ReturnStatement|VariableDeclarator|ArrowFunctionExpression|BinaryExpression)$/.test(above.type);
    // Not `+ 1`: that would also type-check for a string.
    return isCounter && isValue && above.callee !== node && above.key !== node ? [{ at: node, ...expression(`(${textOf(node)} - -1)`) }] : [];
  },
};

export const operatorNames = Object.keys(operators);

const pairs = (list) => list.slice(1).map((each, i) => [list[i], each]);

/** @returns {Mutant[]} every place of a file, for every operator */
export function mutantsOf(file, text) {
  const found = [];
  const textOf = ({ start, end }) => text.slice(start, end);
  const visit = (node, parents) => {
    for (const [operator, places] of Object.entries(operators))
      for (const { at, rank = 0, ...change } of places(node, { text, textOf, parents })) {
        const { start, end } = at;
        found.push({ operator, file, line: text.slice(0, start).split('\n').length, start, end, original: textOf(at), rank, ...change });
      }
    for (const child of Object.values(node)) {
      for (const each of Array.isArray(child) ? child : [child])
        if (each !== null && typeof each === 'object' && typeof each.type === 'string') visit(each, [...parents, node]);
    }
  };
  visit(parseAst(text, { lang: 'ts' }, file), []);
  const times = new Map();
  return found.map((mutant) => {
    const same = `${mutant.operator} ${mutant.original}`;
    times.set(same, (times.get(same) ?? 0) + 1);
    return { ...mutant, nth: times.get(same) };
  });
}

/** The text of a mutant's file. */
export const mutate = (text, { start, end, appended = '' }, replace) => text.slice(0, start) + replace + text.slice(end) + appended;
