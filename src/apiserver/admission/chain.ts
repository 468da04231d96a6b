/**
 * Admission, between decoding and storing. Mutating plugins change the object, in order;
 * after the kind's own validation, validating plugins may refuse it. A plugin that reserves something for the object
 * (ResourceQuota) does so in the object's own transaction: `draft`.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Annotate, User } from '../api.ts';
import type { DeleteOptions, WriteOptions } from '../objects/options.ts';
import type { Resource } from '../objects/resources.ts';
import type { TransactionDraft } from '../objects/transaction.ts';

/** `connect`: exec, attach, port-forward and proxies, which store nothing. Only webhooks and policies see it. */
export type Operation = 'create' | 'update' | 'delete' | 'connect';

export interface AdmissionRequest {
  readonly operation: Operation;
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string;
  /** '': it will be generated. */
  readonly name: string;
  /** The new object; of a deletion: the stored one, frozen; of a connection: its options (PodExecOptions). */
  readonly object: KubeObject;
  /** The stored object, frozen; undefined for a creation or a connection. */
  readonly old: KubeObject | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  readonly draft: TransactionDraft;
  readonly warnings: Set<string>;
  /** The options of the request. */
  readonly options?: RequestOptions;
  /** Adds an audit annotation. */
  readonly annotate?: Annotate | undefined;
}

/** Of a write, or of a deletion. */
export type RequestOptions = Partial<Pick<WriteOptions, 'fieldManager' | 'fieldValidation'> & Omit<DeleteOptions, 'dryRun'>>;

export interface AdmissionPlugin {
  readonly name: string;
  /** Whether the plugin handles such requests; called once for each combination. */
  handles(operation: Operation, resource: Resource, subresource: string): boolean;
  /** Changes the object in place. @throws ApiError */
  mutate?(request: AdmissionRequest): Promise<void> | void;
  /** @throws ApiError */
  validate?(request: AdmissionRequest): Promise<void> | void;
}

/** The plugins that handle a combination of operation, resource and subresource. */
interface HandlingPlugins {
  readonly mutating: readonly AdmissionPlugin[];
  readonly validating: readonly AdmissionPlugin[];
}

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  /** Weak: custom resources come and go. */
  readonly #concerned = new WeakMap<Resource, Map<string, HandlingPlugins>>();

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#for(request).mutating) {
      const done = plugin.mutate?.(request);
      // Most plugins are synchronous.
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
