/**
 * Admission: what the cluster makes of a write before it is stored. Plugins first change objects, all of them in order;
 * then, once an object has passed its own kind's validation, they may refuse it. A plugin that takes something for an object
 * (quota) does so in the object's own transaction: `draft`.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Annotate, User } from '../api.ts';
import type { DeleteOptions, WriteOptions } from '../objects/options.ts';
import type { Resource } from '../objects/resources.ts';
import type { TransactionDraft } from '../objects/transaction.ts';

export type Operation = 'create' | 'update' | 'delete';

export interface AdmissionRequest {
  readonly operation: Operation;
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string;
  /** '': it will be generated. */
  readonly name: string;
  /** The object as it shall be; of a deletion: as it is, frozen. */
  readonly object: KubeObject;
  /** The object as it is, frozen; undefined for a creation. */
  readonly old: KubeObject | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  readonly draft: TransactionDraft;
  readonly warnings: Set<string>;
  /** Those of the request, as far as it gave any. */
  readonly options?: RequestOptions;
  /** What the audit log is to say of the request. */
  readonly annotate?: Annotate | undefined;
}

/** Of a write, or of a deletion. */
export type RequestOptions = Partial<Pick<WriteOptions, 'fieldManager' | 'fieldValidation'> & Omit<DeleteOptions, 'dryRun'>>;

export interface AdmissionPlugin {
  readonly name: string;
  /** Whether it has anything to do with such requests; asked once for each combination. */
  handles(operation: Operation, resource: Resource, subresource: string): boolean;
  /** Changes the object in place. @throws ApiError */
  mutate?(request: AdmissionRequest): Promise<void> | void;
  /** @throws ApiError */
  validate?(request: AdmissionRequest): Promise<void> | void;
}

/** The plugins that have to do with a combination of operation and resource. */
interface HandlingPlugins {
  readonly mutating: readonly AdmissionPlugin[];
  readonly validating: readonly AdmissionPlugin[];
}

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  /** Custom resources come and go, and this with them. */
  readonly #concerned = new WeakMap<Resource, Map<string, HandlingPlugins>>();

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#for(request).mutating) {
      const done = plugin.mutate?.(request);
      // Most have nothing to wait for.
      if (done !== undefined) await done;
    }
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#for(request).validating) {
      const done = plugin.validate?.(request);
      if (done !== undefined) await done;
    }
  }

  #for({ operation, resource, subresource }: AdmissionRequest): HandlingPlugins {
    let ofResource = this.#concerned.get(resource);
    if (ofResource === undefined) {
      ofResource = new Map();
      this.#concerned.set(resource, ofResource);
    }
    const combination = subresource === '' ? operation : `${operation} ${subresource}`;
    let concerned = ofResource.get(combination);
    if (concerned === undefined) {
      const plugins = this.#plugins.filter((plugin) => plugin.handles(operation, resource, subresource));
      concerned = { mutating: plugins.filter((plugin) => 'mutate' in plugin), validating: plugins.filter((plugin) => 'validate' in plugin) };
      ofResource.set(combination, concerned);
    }
    return concerned;
  }
}

export const isResource = ({ kind }: Resource, group: string, plural: string): boolean => kind.group === group && kind.plural === plural;
