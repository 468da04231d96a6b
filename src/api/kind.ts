import type { JsonSchema } from './json-schema.ts';
import type { FieldError } from './field-error.ts';
import type { KubeObject } from './object.ts';

/**
 * A kind, described once. Decoding, strict field validation, OpenAPI, Table output, patch merge keys and the TypeScript
 * types all follow from it and from the schema type it names (`generated/`).
 *
 * What happens to an object that a client creates, in this order (apiserver/registry/verbs/create.ts):
 * decode (schema) → `defaults` → mutating admission → `prepareForCreate` → `validate` → validating admission → store.
 * And to one that it updates (update.ts):
 * decode → `defaults` → mutating admission → `prepareForUpdate` → `validate` + `validateUpdate` → validating admission → store.
 */
export interface Kind<T extends KubeObject = KubeObject> {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  /** 'PersistentVolumeClaim' */
  readonly kind: string;
  /** 'persistentvolumeclaims' */
  readonly plural: string;
  /** 'persistentvolumeclaim' */
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** The name of the kind's type in `generated/schema.ts` and `generated/types.ts`. */
  readonly type: string;
  /** Present: the kind was defined at run time (CustomResourceDefinition), and has no type there. */
  readonly custom?: CustomType;
  /** Where objects live in the store; two kinds with the same value are two views of the same objects (events). */
  readonly storage: { readonly resource: string; readonly convert?: Conversion };
  readonly verbs: readonly Verb[];

  /** What is wrong with a name; with `prefix`, of a generateName. An empty list: nothing. */
  validateName(name: string, prefix: boolean): readonly string[];
  /** Fills in what the client left out, in place. Idempotent: applied to what it made, it changes nothing. */
  readonly defaults?: (object: T) => void;
  /** Removes or resets, in place, what a client may not set at creation (status, generation is 1 anyway). `now`: milliseconds since 1970. */
  readonly prepareForCreate?: (object: T, now: number, requester?: Requester) => void;
  /** Restores, in place, what a client may not change through the main resource; status is restored by `status: true` alone. */
  readonly prepareForUpdate?: (object: T, old: T) => void;
  /** All that is wrong with an object by itself. metadata is checked by the registry for all kinds. */
  readonly validate?: (object: T) => readonly FieldError[];
  /** What else is wrong with a new object: rules that objects which are there already need not follow. Runs after `validate`. */
  readonly validateCreate?: (object: T) => readonly FieldError[];
  /** All that is wrong with a change. `validate` has run on the object as well. */
  readonly validateUpdate?: (object: T, old: T) => readonly FieldError[];
  /** Which checks a write runs, in Kubernetes' order and number (it repeats some); what is left out is as `usualChecks` has it. */
  readonly checks?: Partial<WriteChecks>;
  /** Finalizers of this kind need no domain (Lease). */
  readonly looseFinalizers?: boolean;
  /** Present: what every request for the kind is warned of, since there is something better by now. */
  readonly deprecation?: string;
  /** Texts for the Warning header (199) about what `prepareForCreate` and `prepareForUpdate` are going to remove, though a user wrote it on purpose. */
  readonly droppedFields?: (object: T, old: T | undefined) => readonly string[];
  /** Texts for the Warning header (199). */
  readonly warnings?: (object: T, old: T | undefined) => readonly string[];

  /** Present: the kind has a /status subresource, and only it writes `status`. */
  readonly status?: {
    /** Called after the registry took everything but `status` and metadata from the old object. */
    readonly prepareForUpdate?: (object: T, old: T, now: number) => void;
    readonly validateUpdate?: (object: T, old: T) => readonly FieldError[];
  };
  /** Present: the kind has an /approval subresource, which writes what it leaves of the status. */
  readonly approval?: {
    /** Called after the registry took everything but `status` and metadata from the old object. */
    readonly prepareForUpdate: (object: T, old: T, now: number) => void;
    readonly validateUpdate: (object: T, old: T) => readonly FieldError[];
  };
  /** Further subresources by which some of the spec is written (pods/resize), each under rules of its own. */
  readonly parts?: Readonly<Record<SpecPart, SpecPartRules<T>>>;
  /** metadata.generation starts at 1 and grows whenever anything but metadata and status changes. */
  readonly hasGeneration: boolean;
  /** Present: the generation grows as well when this is true (deployments: also when annotations change). */
  readonly generationAlsoGrows?: (object: T, old: T) => boolean;
  /** Present: the kind has a /scale subresource. */
  readonly scale?: ScalePaths<T>;
  /** PUT of an absent object creates it (Lease, Event, Endpoints …). */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion is accepted. */
  readonly unconditionalUpdate: boolean;
  /** Present: deletion waits until a component confirms it (pods: the kubelet). Seconds to wait; 0: delete now. */
  readonly gracePeriod?: (object: T, requested: number | undefined) => number;

  /** Present: called once, when the deletion of an object with finalizers begins. `now`: a timestamp. */
  readonly beginDeletion?: (object: T, now: string) => void;

  /** Field selectors beyond metadata.name and metadata.namespace: 'spec.nodeName'. */
  readonly selectableFields: Readonly<Record<string, (object: T) => string>>;
  /** The columns that `kubectl get` prints. The registry adds nothing: Name and Age are listed like the others. */
  readonly columns: readonly Column<T>[];
  /** Present: the conditions of a row of the Table (pods that finished). */
  readonly rowConditions?: (object: T) => readonly RowCondition[];
}

export type SpecPart = 'ephemeralcontainers' | 'resize';

export const specParts: readonly SpecPart[] = ['ephemeralcontainers', 'resize'];

export interface SpecPartRules<T extends KubeObject> {
  /** Takes from the old object, in place, whatever the subresource does not write. */
  readonly prepareForUpdate: (object: T, old: T) => void;
  /** Why no such object is ever written in this way; further causes are left out then. */
  readonly refuse: (old: T) => readonly FieldError[];
  /** All that is wrong with a change; `validate` has run on the object. */
  readonly validateUpdate: (object: T, old: T) => readonly FieldError[];
}

/** The authenticated user of the request, not what the object claims. */
export interface Requester {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** `metadata`: of the object by itself; `object`: `validate`; `metadataChange`: against the old object; `change`: `validateUpdate`. */
export type Check = 'metadata' | 'object' | 'metadataChange' | 'change';

export interface WriteChecks {
  readonly create: readonly Check[];
  readonly update: readonly Check[];
  readonly status: readonly Check[];
}

export const usualChecks: WriteChecks = {
  create: ['metadata', 'object'],
  update: ['metadata', 'object', 'metadataChange', 'change'],
  status: ['metadataChange', 'change'],
};

/** The objects of a kind that was defined at run time. */
export interface CustomType {
  /** Structural. */
  readonly schema: JsonSchema;
  readonly listKind: string;
  /** Sheds what the schema does not know, and fills in its defaults. @throws DecodeError */
  readonly decode: (value: object) => { readonly object: KubeObject; readonly strictErrors: readonly string[] };
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** Turns an object as stored into this kind and back; for a second view of the same objects. */
export interface Conversion {
  readonly fromStored: (stored: KubeObject) => KubeObject;
  readonly toStored: (object: KubeObject) => KubeObject;
}

export interface Column<T extends KubeObject = KubeObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** '' or 'name'; custom resources have others. */
  readonly format: string;
  /** 0: always shown; more: only with -o wide. */
  readonly priority: number;
  readonly description?: string;
  /** `now`: milliseconds since 1970, for ages. */
  readonly cell: (object: T, now: number) => string | number | boolean | null;
}

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface ScalePaths<T extends KubeObject> {
  readonly replicas: (object: T) => number;
  readonly setReplicas: (object: T, replicas: number) => void;
  /** Where they are; without it: in spec.replicas. */
  readonly replicasPath?: readonly string[];
  readonly statusReplicas: (object: T) => number;
  /** The selector in its string form. */
  readonly selector: (object: T) => string;
}

/** 'v1', 'storage.k8s.io/v1' */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** 'persistentvolumes', 'storageclasses.storage.k8s.io': how messages name a resource. */
export function qualifiedResource(kind: Pick<Kind, 'group' | 'plural'>): string {
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}

/** Of kinds that are served in several versions of a group, only the one that is listed first: the objects are the same. */
export function eachOnce(kinds: readonly Kind[]): readonly Kind[] {
  const first = new Map<string, Kind>();
  for (const kind of kinds) if (!first.has(qualifiedResource(kind))) first.set(qualifiedResource(kind), kind);
  return [...first.values()];
}

/** A kind in a list of kinds, without the type of its objects. A caller passes it only objects of that kind. */
export const untypedKind = <T extends KubeObject>(kind: Kind<T>): Kind => kind as unknown as Kind;
