/** Type checks of an applied configuration, in the words of structured-merge-diff. */
import { goText, goTypeOf } from '../patch/go-text.ts';
import { quoteGo } from '../json.ts';
import { ItemError, itemElement } from './list-item.ts';
import { elementText, fieldElement, indexElement, type PathElement } from './path-element.ts';
import { asList, asMap, formOf, type JsonMap, type ListShape, type MapShape, type Shape } from './shape.ts';

export interface TypeMismatch {
  readonly path: string;
  readonly message: string;
}

/** The most errors that are reported. */
const maxMisfits = 100;

export interface CheckOptions {
  /** Items may have duplicate keys: live objects may, applied configurations may not. */
  readonly duplicates?: boolean;
}

export function typeMismatches(shape: Shape, value: unknown, options: CheckOptions = {}): readonly TypeMismatch[] {
  const found: TypeMismatch[] = [];
  new Checker(found, options.duplicates === true).check(shape, value, []);
  return found;
}

/** One error alone, several as a list. */
export function typeMismatchText(found: readonly TypeMismatch[]): string {
  const texts = found.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return texts.length === 1 ? (texts[0] ?? '') : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n');
}

class Checker {
  readonly #found: TypeMismatch[];
  readonly #duplicates: boolean;
  constructor(found: TypeMismatch[], duplicates: boolean) {
    this.#found = found;
    this.#duplicates = duplicates;
  }

  check(shape: Shape, value: unknown, path: readonly PathElement[]): void {
    if (value === null || value === undefined) return;
    const form = formOf(shape, value);
    switch (form.type) {
      case 'scalar': {
        const problem = scalarProblem(shape.scalar ?? 'untyped', value);
        if (problem !== undefined) this.#report(path, problem);
        return;
      }
      case 'list': {
        const items = asList(value);
        if (items === undefined) this.#report(path, `expected list, got &{${goText(value)}}`);
        else this.#items(form.list, items, path);
        return;
      }
      case 'map': {
        const members = asMap(value);
        if (members === undefined) this.#report(path, `expected map, got &{${goText(value)}}`);
        else this.#members(form.map, members, path);
      }
    }
  }

  #report(path: readonly PathElement[], message: string): void {
    if (this.#found.length < maxMisfits) this.#found.push({ path: path.map(elementText).join(''), message });
  }

  #members(map: MapShape, members: JsonMap, path: readonly PathElement[]): void {
    for (const [name, value] of Object.entries(members)) {
      const below = [...path, fieldElement(name)];
      const shape = map.field(name)?.shape ?? map.element();
      if (shape === undefined) this.#report(below, 'field not declared in schema');
      else this.check(shape, value, below);
    }
  }

  #items(list: ListShape, items: readonly unknown[], path: readonly PathElement[]): void {
    const seen = new Set<PathElement>();
    for (const [i, item] of items.entries()) {
      let element = indexElement(i);
      if (!list.atomic) {
        try {
          element = itemElement(list, item);
        } catch (error) {
          if (!(error instanceof ItemError)) throw error;
          return this.#report(path, `element ${i}: ${error.message}`);
        }
        if (seen.has(element) && !this.#duplicates) this.#report(path, `duplicate entries for key ${elementText(element)}`);
        seen.add(element);
      }
      this.check(list.element(), item, [...path, element]);
    }
  }
}

function scalarProblem(scalar: NonNullable<Shape['scalar']>, value: unknown): string | undefined {
  switch (scalar) {
    case 'numeric':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goTypeOf(value)}`;
    case 'string':
      return typeof value === 'string' ? undefined : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goText(value)}}`;
    case 'untyped':
      return typeof value === 'object' ? `expected any scalar, got &{${goText(value)}}` : undefined;
  }
}

/** A value as Go's %#v prints it. */
function goSyntax(value: unknown): string {
  if (typeof value === 'string') return quoteGo(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  const map = asMap(value);
  if (map === undefined) return value === null ? 'interface {}(nil)' : JSON.stringify(value);
  const members = Object.keys(map)
    .sort()
    .map((key) => `${quoteGo(key)}:${goSyntax(map[key])}`);
  return `map[string]interface {}{${members.join(', ')}}`;
}
