/** The parameters of a request, by the names of the wire: 'TagSpecification.1.Tag.2.Key=a' as a tree, checked against the published model. */
import { CloudError } from '../engine/errors.ts';
import { actions, requests } from './generated/model.ts';

export type Value = string | number | boolean | Parameters | readonly Value[];

interface Branch {
  readonly children: Map<string, Branch>;
  text?: string;
}

/** A request has so many parameters at most, and a list so many entries. */
const mostParameters = 10_000;
const mostEntries = 1000;
/** Of a name: longer than any that the model has. */
const longestName = 512;
/** What every action has besides its own. */
const common = new Set(['Action', 'Version']);

/** @throws CloudError that names the first parameter that is unknown or not of its type */
export function readParameters(action: string, form: Iterable<readonly [string, string]>): Parameters {
  const root: Branch = { children: new Map() };
  let count = 0;
  for (const [name, text] of form) {
    if (++count > mostParameters) throw new CloudError('RequestEntityTooLarge', `The request has more than ${mostParameters} parameters`);
    if (common.has(name)) continue;
    if (name.length > longestName) throw new CloudError('UnknownParameter', `The parameter ${name.slice(0, 64)}… is not recognized`);
    let branch = root;
    for (const part of name.split('.')) {
      let child = branch.children.get(part);
      if (child === undefined) branch.children.set(part, (child = { children: new Map() }));
      branch = child;
    }
    branch.text = text;
  }
  const model = actions[action];
  const found = structureOf(root, model?.request ?? '', '');
  const missing = model?.required.find((name) => !found.has(name));
  if (missing !== undefined) throw new CloudError('MissingParameter', `The request must contain the parameter ${missing}`);
  return found;
}

function structureOf({ children }: Branch, structure: string, path: string): Parameters {
  const members = requests[structure] ?? {};
  const values = new Map<string, Value>();
  for (const [name, branch] of children) {
    const type = Object.hasOwn(members, name) ? members[name] : undefined;
    if (type === undefined) throw new CloudError('UnknownParameter', `The parameter ${path}${name} is not recognized`);
    values.set(name, valueOf(branch, type, `${path}${name}`));
  }
  return new Parameters(values, path);
}

function valueOf(branch: Branch, type: string, path: string): Value {
  if (type.endsWith('[]')) return listOf(branch, type.slice(0, -2), path);
  if (Object.hasOwn(requests, type)) return structureOf(branch, type, `${path}.`);
  const { text, children } = branch;
  const [first] = children.keys();
  if (text === undefined || first !== undefined)
    throw new CloudError('UnknownParameter', `The parameter ${path}${first === undefined ? '' : `.${first}`} is not recognized`);
  return scalarOf(text, type, path);
}

/** The numbers order the entries; gaps are no error. */
function listOf({ text, children }: Branch, type: string, path: string): readonly Value[] {
  if (children.size > mostEntries) throw new CloudError('InvalidParameterValue', `The parameter ${path} has more than ${mostEntries} values`);
  if (text !== undefined && children.size === 0) {
    // An empty list is written so by some clients.
    if (text === '') return [];
    throw new CloudError('MalformedQueryString', `The parameter ${path} is a list: ${path}.1`);
  }
  return [...children]
    .map(([index, branch]): readonly [number, Branch] => {
      if (!/^\d{1,6}$/.test(index)) throw new CloudError('UnknownParameter', `The parameter ${path}.${index} is not recognized`);
      return [Number(index), branch];
    })
    .sort(([a], [b]) => a - b)
    .map(([index, branch]) => valueOf(branch, type, `${path}.${index}`));
}

function scalarOf(text: string, type: string, path: string): string | number | boolean {
  if (type === 'boolean') {
    if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
    throw new CloudError('InvalidParameterValue', `Invalid value '${text}' for ${path}: it must be true or false`);
  }
  if (type === 'integer' || type === 'long') {
    if (/^-?\d{1,15}$/.test(text)) return Number(text);
    throw new CloudError('InvalidParameterValue', `Invalid value '${text}' for ${path}: it must be a number`);
  }
  if (type === 'double' || type === 'float') {
    if (/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text)) return Number(text);
    throw new CloudError('InvalidParameterValue', `Invalid value '${text}' for ${path}: it must be a number`);
  }
  return text;
}

/** The members of a structure. What no action reads is refused by `refuseUnread`: a parameter without effect would be a silent error. */
export class Parameters {
  readonly #values: ReadonlyMap<string, Value>;
  readonly #path: string;
  readonly #read = new Set<string>();

  constructor(values: ReadonlyMap<string, Value>, path = '') {
    this.#values = values;
    this.#path = path;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | undefined {
    const value = this.#take(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** @throws CloudError */
  requiredText(name: string): string {
    const text = this.text(name);
    if (text === undefined || text === '') throw new CloudError('MissingParameter', `The request must contain the parameter ${this.#path}${name}`);
    return text;
  }

  number(name: string): number | undefined {
    const value = this.#take(name);
    return typeof value === 'number' ? value : undefined;
  }

  boolean(name: string): boolean | undefined {
    const value = this.#take(name);
    return typeof value === 'boolean' ? value : undefined;
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.#take(name);
    return Array.isArray(value) ? (value as readonly Value[]).filter((each) => typeof each === 'string') : undefined;
  }

  structure(name: string): Parameters | undefined {
    const value = this.#take(name);
    return value instanceof Parameters ? value : undefined;
  }

  structures(name: string): readonly Parameters[] {
    const value = this.#take(name);
    return Array.isArray(value) ? (value as readonly Value[]).filter((each) => each instanceof Parameters) : [];
  }

  /** They change nothing that this cloud has: how a console shows an instance, which key pair logs in. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name);
  }

  /** @throws CloudError */
  refuseUnread(): void {
    for (const [name, value] of this.#values) {
      if (!this.#read.has(name)) throw new CloudError('UnsupportedOperation', `The parameter ${this.#path}${name} is not supported by this cloud`);
      for (const each of Array.isArray(value) ? (value as readonly Value[]) : [value]) if (each instanceof Parameters) each.#refuseUnreadPart();
    }
  }

  /** A part that was ignored as a whole is not looked into. */
  #refuseUnreadPart(): void {
    if (this.#read.size > 0) this.refuseUnread();
  }

  #take(name: string): Value | undefined {
    this.#read.add(name);
    return this.#values.get(name);
  }
}
