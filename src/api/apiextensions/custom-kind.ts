/** The kinds that a CustomResourceDefinition defines. */
import type { FieldError } from '../field-error.ts';
import { invalid } from '../field-error.ts';
import { isJsonObject, setOwn } from '../json.ts';
import type { CustomType, Kind, ScalePaths } from '../kind.ts';
import { everyVerb } from '../verbs.ts';
import type { KubeObject } from '../object.ts';
import { cloneObject, deepEqual } from '../schema/plain-object.ts';
import { nameIsDnsSubdomain } from '../validation/names.ts';
import { columnsOf } from './columns.ts';
import { decodeCustom } from './decode-custom.ts';
import { fillDefaults } from './defaulting.ts';
import type { JsonSchema } from '../json-schema.ts';
import type { CustomResourceDefinition, DefinitionVersion, ScaleSubresource } from './definition.ts';
import { validateEmbedded } from './embedded.ts';
import { findFirst, type JsonPath, parseJsonPath } from './json-path.ts';
import { validateListTypes } from './list-types.ts';
import { checkRules, hasRules } from './rules.ts';
import { validateValue } from './validate-value.ts';

/** The apiVersion of all stored objects: without conversion webhooks versions differ in name only. */
const STORED = 'stored';

/** `base`: the storage version; `served`: the served versions. */
export interface CustomKinds {
  readonly base: Kind;
  readonly served: readonly Kind[];
}

export function customKinds(definition: CustomResourceDefinition): CustomKinds {
  const versions = definition.spec.versions ?? [];
  const [first] = versions;
  if (first === undefined) throw new Error('a definition without versions was stored');
  const base: Kind = { ...kindOf(definition, first), version: STORED, storage: { resource: resourceOf(definition) } };
  const served = versions.filter(({ served }) => served).sort(byPriority);
  return { base, served: served.map((version) => kindOf(definition, version)) };
}

const resourceOf = ({ spec }: CustomResourceDefinition): string => `${spec.group}/${spec.names.plural}`;

/** v2, v1, v1beta2, v1beta1, v1alpha1, then other names in alphabetical order (upstream: version.CompareKubeAwareVersionStrings). */
export function byPriority(a: { readonly name: string }, b: { readonly name: string }): number {
  const [x, y] = [rank(a.name), rank(b.name)];
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return (y[i] ?? 0) - (x[i] ?? 0);
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function rank(name: string): readonly number[] {
  const parts = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(name);
  if (parts === null) return [0, 0, 0];
  return [parts[2] === undefined ? 3 : parts[2] === 'beta' ? 2 : 1, Number(parts[1]), Number(parts[3] ?? 0)];
}

function kindOf({ spec, status }: CustomResourceDefinition, version: DefinitionVersion): Kind {
  const { group } = spec;
  const names = status.acceptedNames;
  const apiVersion = `${group}/${version.name}`;
  const schema = version.schema?.openAPIV3Schema ?? {};
  const custom: CustomType = { schema, listKind: names.listKind ?? '', decode: (value) => decodeCustom(value, { schema, apiVersion, kind: names.kind }) };
  const hasStatus = version.subresources?.status !== undefined;
  const scale = version.subresources?.scale;
  const checks = new Checks({ schema, scale });
  return {
    group,
    version: version.name,
    kind: names.kind,
    plural: names.plural,
    singular: names.singular ?? '',
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    type: '',
    custom,
    storage: {
      resource: `${group}/${names.plural}`,
      convert: { fromStored: (stored) => custom.decode({ ...stored, apiVersion, kind: names.kind }).object, toStored: (object) => object },
    },
    verbs: everyVerb,
    validateName: nameIsDnsSubdomain,
    ...(hasStatus
      ? { prepareForCreate: dropStatus, status: { prepareForUpdate: keepMetadata, validateUpdate: (object, old) => checks.status(object, old) } }
      : {}),
    defaults: (object) => fillDefaults(object, schema),
    validate: (object) => checks.object(object, undefined),
    validateUpdate: (object, old) => checks.object(object, old),
    checks: { update: ['metadataChange', 'change'] },
    looseFinalizers: true,
    ...(version.deprecated === true ? { deprecation: version.deprecationWarning ?? `${apiVersion} ${names.kind} is deprecated` } : {}),
    hasGeneration: true,
    ...(hasStatus ? {} : { generationAlsoGrows: (object: KubeObject, old: KubeObject) => !deepEqual(fieldOf(object, 'status'), fieldOf(old, 'status')) }),
    ...(scale === undefined ? {} : { scale: scalePaths(scale) }),
    unconditionalUpdate: false,
    selectableFields: selectableOf(version),
    columns: columnsOf(version),
  };
}

const fieldOf = (object: unknown, name: string): unknown => (isJsonObject(object) && Object.hasOwn(object, name) ? object[name] : undefined);

function dropStatus(object: KubeObject): void {
  delete (object as KubeObject & { status?: unknown }).status;
}

/** A write of the status changes nothing else, apart from managedFields. */
function keepMetadata(object: KubeObject, old: KubeObject): void {
  const { resourceVersion, managedFields } = object.metadata;
  const { managedFields: _, ...kept } = cloneObject(old.metadata);
  object.metadata = { ...kept, ...(resourceVersion === undefined ? {} : { resourceVersion }), ...(managedFields === undefined ? {} : { managedFields }) };
}

const blocking: ReadonlySet<FieldError['type']> = new Set(['NotSupported', 'Required', 'TooLong', 'TooMany', 'TypeInvalid']);
const notChecked = 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

class Checks {
  readonly #schema: JsonSchema;
  readonly #scale: ScaleSubresource | undefined;

  constructor(options: { schema: JsonSchema; scale: ScaleSubresource | undefined }) {
    this.#schema = options.schema;
    this.#scale = options.scale;
  }

  object(object: KubeObject, old: KubeObject | undefined): FieldError[] {
    const errors = [...validateValue(object, this.#schema, { old }), ...this.#scaleErrors(object, ['specReplicasPath', 'statusReplicasPath'])];
    errors.push(...validateEmbedded(object, this.#schema), ...this.#listErrors(object, old));
    return this.#withRules(errors, object, old);
  }

  status(object: KubeObject, old: KubeObject): FieldError[] {
    const schema = this.#schema.properties?.['status'];
    const value = fieldOf(object, 'status');
    const errors = schema === undefined || value === undefined ? [] : validateValue(value, schema, { old: fieldOf(old, 'status'), base: 'status' });
    errors.push(...this.#scaleErrors(object, ['statusReplicasPath']), ...this.#listErrors(object, old));
    return this.#withRules(errors, object, old);
  }

  /** Ratcheting: errors of unchanged values are ignored. */
  #listErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
    const errors = validateListTypes(object, this.#schema, '');
    return errors.length > 0 && old !== undefined && validateListTypes(old, this.#schema, '').length > 0 ? [] : errors;
  }

  /** CEL rules run only on values that fit the schema. */
  #withRules(errors: FieldError[], object: KubeObject, old: KubeObject | undefined): FieldError[] {
    if (!hasRules(this.#schema)) return errors;
    if (errors.some(({ type }) => blocking.has(type))) return [...errors, invalid('<nil>', null, notChecked)];
    return [...errors, ...checkRules(object, this.#schema, { field: '', old })];
  }

  #scaleErrors(object: KubeObject, names: readonly ('specReplicasPath' | 'statusReplicasPath')[]): FieldError[] {
    const scale = this.#scale;
    if (scale === undefined) return [];
    return names.flatMap((name) => {
      const replicas = findFirst(object, parseJsonPath(scale[name]) ?? []) ?? 0;
      if (typeof replicas !== 'number')
        return [invalid(scale[name], 0, `${scale[name]} accessor error: ${JSON.stringify(replicas)} is of the type ${typeof replicas}, expected int64`)];
      if (replicas < 0) return [invalid(scale[name], replicas, 'should be a non-negative integer')];
      return replicas > MAX_INT32 ? [invalid(scale[name], replicas, `should be less than or equal to ${MAX_INT32}`)] : [];
    });
  }
}

const MAX_INT32 = 2 ** 31 - 1;

function scalePaths({ specReplicasPath, statusReplicasPath, labelSelectorPath = '' }: ScaleSubresource): ScalePaths<KubeObject> {
  const numberAt = (object: KubeObject, path: string): number => {
    const found = findFirst(object, parseJsonPath(path) ?? []);
    return typeof found === 'number' ? found : 0;
  };
  return {
    replicas: (object) => numberAt(object, specReplicasPath),
    statusReplicas: (object) => numberAt(object, statusReplicasPath),
    selector: (object) => {
      const found = labelSelectorPath === '' ? '' : findFirst(object, parseJsonPath(labelSelectorPath) ?? []);
      return typeof found === 'string' ? found : '';
    },
    setReplicas: (object, replicas) => setAt(object, specReplicasPath.slice(1).split('.'), replicas),
    replicasPath: specReplicasPath.slice(1).split('.'),
  };
}

function setAt(object: unknown, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (!isJsonObject(object)) return;
  if (rest.length === 0) return setOwn(object, name, value);
  if (!isJsonObject(fieldOf(object, name))) setOwn(object, name, {});
  setAt(object[name], rest, value);
}

function textAt(object: KubeObject, path: JsonPath): string {
  const found = findFirst(object, path);
  return typeof found === 'string' ? found : typeof found === 'number' || typeof found === 'boolean' ? String(found) : '';
}

function selectableOf({ selectableFields = [] }: DefinitionVersion): Kind['selectableFields'] {
  return Object.fromEntries(
    selectableFields.map(({ jsonPath }) => {
      const path = parseJsonPath(jsonPath) ?? [];
      return [jsonPath.replace(/^\./, ''), (object: KubeObject) => textAt(object, path)];
    }),
  );
}
