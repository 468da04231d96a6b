import { causeMessage, type FieldError, required } from '../../api/field-error.ts';
import { isJsonObject, JsonNumber } from '../../api/json.ts';
import { readYaml, YamlError } from '../../api/yaml.ts';

/** A configuration file is not usable; the message names the file and every wrong field. */
export class ConfigFileError extends Error {
  constructor(file: string, problems: readonly string[]) {
    super(`${file}: ${problems.join('; ')}`);
    this.name = 'ConfigFileError';
  }
}

export interface ConfigFile {
  /** The name of the file in messages. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The problems of a file. */
class Findings {
  readonly errors: string[] = [];
  /** Fields without a meaning: they are ignored. */
  readonly warnings: string[] = [];
}

/**
 * Reads a configuration file as one of Kubernetes' kinds. `read` takes the fields it knows and reports what is wrong with them. All other
 * fields cause a warning, since most of them are misspelt.
 * @throws ConfigFileError
 */
export function readConfigFile<T>(file: ConfigFile, type: ConfigType, read: (fields: ConfigFields) => T): Configured<T> {
  const findings = new Findings();
  const value = yamlValue(file);
  if (!isJsonObject(value)) throw new ConfigFileError(file.name, [`wants a ${type.kind} of ${type.apiVersions[0]}, and holds no object`]);
  const fields = new ConfigFields(value, '', findings);
  const wrong = typeProblem(fields, type);
  if (wrong !== undefined) throw new ConfigFileError(file.name, [wrong]);
  const result = read(fields);
  fields.warnOfRest();
  if (findings.errors.length > 0) throw new ConfigFileError(file.name, findings.errors);
  return { value: result, warnings: findings.warnings };
}

/** The first version is named in messages. */
export interface ConfigType {
  readonly apiVersions: readonly string[];
  readonly kind: string;
}

/** Whether an object says that it is of the type. */
export function typeProblem(fields: ConfigFields, type: ConfigType): string | undefined {
  const [apiVersion, kind] = [fields.text('apiVersion'), fields.text('kind')];
  fields.object('metadata')?.ignoreRest();
  if (type.apiVersions.includes(apiVersion) && kind === type.kind) return undefined;
  const found = apiVersion === '' || kind === '' ? 'does not say what it holds' : `holds a ${kind} of ${apiVersion}`;
  return `wants "apiVersion: ${type.apiVersions[0]}" and "kind: ${type.kind}", and ${found}`;
}

export interface Configured<T> {
  readonly value: T;
  readonly warnings: readonly string[];
}

/** JSON is YAML. */
function yamlValue(file: ConfigFile): unknown {
  try {
    return readYaml(file.bytes).value;
  } catch (error) {
    if (error instanceof YamlError) throw new ConfigFileError(file.name, [error.message]);
    throw error;
  }
}

/** The fields of one object of a file. What is absent or null is empty; what has the wrong type is reported and counts as empty. */
export class ConfigFields {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #findings: Findings;
  readonly #known = new Set<string>();
  readonly #within: ConfigFields[] = [];

  constructor(value: Readonly<Record<string, unknown>>, path: string, findings: Findings) {
    this.#value = value;
    this.#path = path;
    this.#findings = findings;
  }

  /** 'rules[0]' */
  get path(): string {
    return this.#path;
  }

  /** 'rules[0].level' */
  pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  report(...errors: readonly FieldError[]): void {
    for (const error of errors) this.#findings.errors.push(`${error.field === '' ? '' : `${error.field}: `}${causeMessage(error)}`);
  }

  text(name: string): string {
    const value = this.#take(name);
    if (typeof value === 'string' || value === undefined) return value ?? '';
    return this.#wrongType(name, 'a string', '');
  }

  requiredText(name: string): string {
    const text = this.text(name);
    if (text === '' && typeof (this.#value[name] ?? '') === 'string') this.report(required(this.pathOf(name)));
    return text;
  }

  flag(name: string): boolean | undefined {
    const value = this.#take(name);
    if (typeof value === 'boolean' || value === undefined) return value;
    return this.#wrongType(name, 'true or false', undefined);
  }

  texts(name: string): readonly string[] {
    const values = this.#list(name, 'a list of strings');
    if (values.every((value) => typeof value === 'string')) return values;
    return this.#wrongType(name, 'a list of strings', []);
  }

  objects(name: string): readonly ConfigFields[] {
    return this.#list(name, 'a list of objects').flatMap((value, at) => {
      if (isJsonObject(value)) return [this.#inside(value, `${this.pathOf(name)}[${at}]`)];
      return this.#wrongType(`${name}[${at}]`, 'an object', []);
    });
  }

  object(name: string): ConfigFields | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    return isJsonObject(value) ? this.#inside(value, this.pathOf(name)) : this.#wrongType(name, 'an object', undefined);
  }

  /** Adds what is wrong with the object as a whole. */
  reportProblem(problem: string): void {
    this.#findings.errors.push(this.#path === '' ? problem : `${this.#path}: ${problem}`);
  }

  has(name: string): boolean {
    return (this.#value[name] ?? undefined) !== undefined;
  }

  /** The other fields of the object are not read. */
  ignoreRest(): void {
    for (const name of Object.keys(this.#value)) this.#known.add(name);
  }

  warnOfRest(): void {
    for (const name of Object.keys(this.#value)) if (!this.#known.has(name)) this.#findings.warnings.push(`unknown field "${this.pathOf(name)}"`);
    for (const fields of this.#within) fields.warnOfRest();
  }

  #inside(value: Readonly<Record<string, unknown>>, path: string): ConfigFields {
    const fields = new ConfigFields(value, path, this.#findings);
    this.#within.push(fields);
    return fields;
  }

  #list(name: string, wanted: string): readonly unknown[] {
    const value = this.#take(name);
    if (Array.isArray(value) || value === undefined) return value ?? [];
    return this.#wrongType(name, wanted, []);
  }

  #take(name: string): unknown {
    this.#known.add(name);
    const value = this.#value[name] ?? undefined;
    return value instanceof JsonNumber ? value.toNumber() : value;
  }

  #wrongType<T>(name: string, wanted: string, instead: T): T {
    this.#findings.errors.push(`${this.pathOf(name)}: must be ${wanted}`);
    return instead;
  }
}
