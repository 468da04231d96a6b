/**
 * Phrases of the scenario language, defined by patterns that the documentation shows as well:
 *
 *     <node> dies [for <duration>]              'node-1 dies', 'node-1 dies for 10m'
 *     scale <object> to <number>                'scale statefulset/web to 5'
 *     the controllers|scheduler crash|crashes   one of these words
 *
 * `<object>` also takes the namespace, as kubectl does: 'pvc/data -n shop'. `<node>` may be named by a pod: 'the node of
 * pod/db-0'. `<text>` is a quoted text, `<value>` is one word or a quoted text, which may be empty; the others are one word.
 */
import { nearestName } from '../../../api/nearest-name.ts';

/** The values of a pattern's slots: 'duration' → '10m'. */
export type Slots = ReadonlyMap<string, string>;

/** The value of a required slot. @throws PhraseError */
export function slot(slots: Slots, name: string): string {
  const value = slots.get(name);
  if (value === undefined) throw new PhraseError(`the ${name} is missing`);
  return value;
}

/** A pattern and its meaning. `T`: what `make` returns for it. */
export interface Phrase<T> {
  readonly pattern: string;
  readonly about: string;
  readonly example: string;
  readonly make: (slots: Slots) => T;
}

/** A phrase that matches no pattern; the message names what would. */
export class PhraseError extends Error {}

type Element =
  | { readonly type: 'words'; readonly words: readonly string[] }
  | { readonly type: 'slot'; readonly name: string }
  | { readonly type: 'optional'; readonly elements: readonly Element[] };

interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

/** How far a phrase was matched, and what could have followed. */
interface Reach {
  at: number;
  readonly expected: Set<string>;
  readonly patterns: Set<string>;
}

export class Phrasebook<T> {
  readonly phrases: readonly Phrase<T>[];
  readonly #compiled: readonly { readonly phrase: Phrase<T>; readonly elements: readonly Element[] }[];

  constructor(phrases: readonly Phrase<T>[]) {
    this.phrases = phrases;
    this.#compiled = phrases.map((phrase) => ({ phrase, elements: compile(phrase.pattern) }));
  }

  /** @throws PhraseError */
  read(sentence: string): T {
    const words = wordsOf(sentence);
    const reach: Reach = { at: 0, expected: new Set(), patterns: new Set() };
    for (const { phrase, elements } of this.#compiled) {
      const slots = match({ elements, words, reach, pattern: phrase.pattern });
      if (slots !== undefined) return phrase.make(slots);
    }
    const openings = this.#compiled.flatMap(({ elements: [first] }) => (first?.type === 'words' ? first.words : []));
    throw new PhraseError(notUnderstood(words, reach, openings));
  }
}

/** `openings`: words that a sentence may begin with. */
function notUnderstood(words: readonly Word[], { at, expected, patterns }: Reach, openings: readonly string[]): string {
  const wrong = words[at]?.text;
  const near = wrong === undefined ? undefined : nearestName(wrong, expected);
  const where = wrong === undefined ? 'it ends too early' : at === 0 ? `nothing begins with "${wrong}"` : `"${wrong}" is not expected there`;
  if (near !== undefined) return `${where}; did you mean "${near}"?`;
  const [first] = words;
  const opening = first === undefined || openings.includes(first.text) ? undefined : nearestName(first.text, openings);
  if (first !== undefined && opening !== undefined) return `nothing begins with "${first.text}"; did you mean "${opening}"?`;
  const forms = [...patterns].slice(0, mostForms).map((pattern) => `"${pattern}"`);
  return at === 0 ? where : `${where}; the form is ${forms.join(' or ')}`;
}

const mostForms = 4;

/** Words, and texts in quotes. */
function wordsOf(sentence: string): readonly Word[] {
  return [...sentence.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => ({
    text: double ?? single ?? plain ?? '',
    quoted: plain === undefined,
  }));
}

function compile(pattern: string): readonly Element[] {
  const elements: Element[] = [];
  const open: Element[][] = [elements];
  for (const [token] of pattern.matchAll(/\[|\]|<[^>]+>|[^\s[\]]+/g)) {
    if (token === '[') {
      const inner: Element[] = [];
      open.at(-1)?.push({ type: 'optional', elements: inner });
      open.push(inner);
    } else if (token === ']') open.pop();
    else open.at(-1)?.push(token.startsWith('<') ? { type: 'slot', name: token.slice(1, -1) } : { type: 'words', words: token.split('|') });
  }
  return elements;
}

interface Sentence {
  readonly elements: readonly Element[];
  readonly words: readonly Word[];
  readonly reach: Reach;
  readonly pattern: string;
}

/** 'pvc/data -n shop', 'the node of pod/db-0'; everything else is one word. */
function wordsTaken(slot: string, words: readonly Word[], at: number): number {
  const ofNode = slot === 'node' && ['the', 'node', 'of'].every((text, i) => words[at + i]?.text === text);
  const begin = ofNode ? 4 : 1;
  const inNamespace = (ofNode || slot === 'object' || slot === 'other') && words[at + begin]?.text === '-n';
  return begin + (inNamespace ? 2 : 0);
}

/** Slots that take a text in quotes. */
const quotable: ReadonlySet<string> = new Set(['text', 'value']);

/** Undefined: the phrase does not match the pattern. */
function match(sentence: Sentence): Slots | undefined {
  const { words, reach, pattern } = sentence;
  const fail = (at: number, expected: readonly string[]): undefined => {
    if (at < reach.at) return undefined;
    if (at > reach.at) {
      reach.at = at;
      reach.expected.clear();
      reach.patterns.clear();
    }
    for (const each of expected) reach.expected.add(each);
    reach.patterns.add(pattern);
    return undefined;
  };
  const from = (elements: readonly Element[], at: number, slots: Slots): Slots | undefined => {
    const [first, ...rest] = elements;
    const word = words[at];
    if (first === undefined) return word === undefined ? slots : fail(at, []);
    if (first.type === 'optional') return from([...first.elements, ...rest], at, slots) ?? from(rest, at, slots);
    if (word === undefined) return fail(at, first.type === 'words' ? first.words : []);
    if (first.type === 'words') return first.words.includes(word.text) ? from(rest, at + 1, slots) : fail(at, first.words);
    if (word.quoted ? !quotable.has(first.name) : first.name === 'text') return fail(at, []);
    const taken = wordsTaken(first.name, words, at);
    const value = words.slice(at, at + taken).map(({ text }) => text);
    return from(rest, at + taken, new Map([...slots, [first.name, value.join(' ')]]));
  };
  return from(sentence.elements, 0, new Map());
}
