/** YAML values with their positions, for error messages. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import { nearestName } from '../../../api/nearest-name.ts';

/** An error in the file, with its position: 'incident.yaml:12:5: …'. */
export class ScenarioFileError extends Error {
  constructor(place: SourcePosition, message: string) {
    super(`${place.file}:${place.line}:${place.column}: ${message}`);
  }
}

export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const mostBytes = 16 * 2 ** 20;

/** The documents of a file that are not empty. @throws ScenarioFileError */
export function readYaml(file: string, text: string): readonly LocatedYaml[] {
  const start: SourcePosition = { file, line: 1, column: 1 };
  if (text.length > mostBytes) throw new ScenarioFileError(start, `the file has more than ${mostBytes / 2 ** 20} MiB`);
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, merge: true });
  const placeAt = (offset: number): SourcePosition => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  return [...documents].flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new ScenarioFileError(placeAt(error.pos[0]), `invalid YAML: ${firstLine(error.message)}`);
    const { contents } = document;
    if (contents === null || (isScalar(contents) && contents.value === null)) return [];
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    return [new LocatedYaml(contents, { value, path: '', placeAt, resolve: (node) => (isAlias(node) ? node.resolve(document) : node) })];
  });
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

interface Found {
  readonly value: unknown;
  /** 'cluster.drivers[0].name' */
  readonly path: string;
  readonly placeAt: (offset: number) => SourcePosition;
  readonly resolve: (node: Node) => Node | undefined;
}

/** A value and its position. */
export class LocatedYaml {
  readonly #node: Node | undefined;
  readonly #found: Found;

  constructor(node: Node | undefined, found: Found) {
    this.#node = node === undefined ? undefined : found.resolve(node);
    this.#found = found;
  }

  get value(): unknown {
    return this.#found.value;
  }

  get path(): string {
    return this.#found.path;
  }

  get place(): SourcePosition {
    return this.#found.placeAt(this.#node?.range?.[0] ?? 0);
  }

  error(message: string): ScenarioFileError {
    return new ScenarioFileError(this.place, this.path === '' ? message : `${this.path}: ${message}`);
  }

  /** @throws ScenarioFileError unless it is a mapping with no other fields than these */
  fields<K extends string>(known: readonly K[]): { readonly [F in K]?: LocatedYaml } {
    const found: Partial<Record<string, LocatedYaml>> = {};
    for (const [key, value] of this.entries()) {
      if (!known.some((each) => each === key)) {
        const near = nearestName(key, known);
        throw new ScenarioFileError(
          value.keyPlace ?? value.place,
          `${join(this.path, key)}: there is no such field${near === undefined ? `; there are ${known.join(', ')}` : `; did you mean "${near}"?`}`,
        );
      }
      if (value.value !== null && value.value !== undefined) found[key] = value;
    }
    return found as { readonly [F in K]?: LocatedYaml };
  }

  /** The position of its key, if it is a field. */
  keyPlace: SourcePosition | undefined;

  /** @throws ScenarioFileError unless it is a mapping */
  entries(): readonly (readonly [string, LocatedYaml])[] {
    if (!isMap(this.#node)) throw this.error(`fields are expected here, not ${kindOfValue(this.value)}`);
    const pairs = new Map(this.#node.items.map((pair) => [String(isScalar(pair.key) ? pair.key.value : pair.key), pair]));
    return Object.entries(this.value as Readonly<Record<string, unknown>>).map(([key, value]) => {
      // A merged field (<<) has the position of the merge.
      const pair = pairs.get(key);
      const located = new LocatedYaml(asNode(pair?.value) ?? asNode(pair?.key) ?? this.#node, { ...this.#found, value, path: join(this.path, key) });
      const range = asNode(pair?.key)?.range;
      if (range !== null && range !== undefined) located.keyPlace = this.#found.placeAt(range[0]);
      return [key, located];
    });
  }

  get isMap(): boolean {
    return isMap(this.#node);
  }

  get isList(): boolean {
    return isSeq(this.#node);
  }

  /** @throws ScenarioFileError unless it is a list */
  items(): readonly LocatedYaml[] {
    if (!isSeq(this.#node)) throw this.error(`a list is expected here, not ${kindOfValue(this.value)}`);
    const values = this.value as readonly unknown[];
    return this.#node.items.map((item, i) => new LocatedYaml(asNode(item), { ...this.#found, value: values[i], path: `${this.path}[${i}]` }));
  }

  /** Also a number or boolean, as text. @throws ScenarioFileError */
  text(): string {
    if (typeof this.value === 'string' && this.value.trim() !== '') return this.value;
    if (typeof this.value === 'number' || typeof this.value === 'boolean') return String(this.value);
    throw this.error(`a text is expected here, not ${kindOfValue(this.value)}`);
  }

  /** @throws ScenarioFileError */
  integer(least: number, most: number): number {
    const { value } = this;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw this.error(`a whole number from ${least} to ${most} is expected here, not ${typeof value === 'number' ? value : kindOfValue(value)}`);
  }

  /** @throws ScenarioFileError */
  boolean(): boolean {
    if (typeof this.value === 'boolean') return this.value;
    throw this.error(`true or false is expected here, not ${kindOfValue(this.value)}`);
  }

  /** The value at a path such as 'spec.resources.requests[storage]', or its nearest existing parent. */
  nearest(path: string): LocatedYaml {
    const [, name, index, rest = ''] = /^\.?(?:([^.[\]]+)|\[([^\]]*)\])(.*)$/.exec(path) ?? [];
    const key = name ?? index;
    const next =
      key === undefined ? undefined : this.isMap ? this.entries().find(([each]) => each === key)?.[1] : this.isList ? this.items()[Number(key)] : undefined;
    return next?.nearest(rest) ?? this;
  }
}

const asNode = (value: unknown): Node | undefined => (value !== null && typeof value === 'object' && 'range' in value ? (value as Node) : undefined);

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

function kindOfValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return JSON.stringify(value);
}
