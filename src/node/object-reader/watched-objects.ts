import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { secretKind } from '../../api/kinds/core/secret.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Client } from '../../client/client.ts';
import { Informer } from '../../client/informers/informer.ts';
import type { World } from '../../world/world.ts';
import type { Reference } from './references.ts';

export interface WatchedObjectsOptions {
  readonly client: Client;
  readonly world: World;
  /** Undefined: it does not exist. */
  readonly put: (reference: Reference, object: KubeObject | undefined) => void;
}

/** How long a pod waits for the first answer: then its events name what is missing. */
const firstAnswerMs = 5000;

/** Secrets and ConfigMaps, each with its own watch: a node may watch only those that its pods refer to. */
export class WatchedObjects {
  readonly #options: WatchedObjectsOptions;
  readonly #informers = new Map<string, { readonly synced: Promise<void>; stop(): void }>();

  constructor(options: WatchedObjectsOptions) {
    this.#options = options;
  }

  static has({ kind }: Reference): boolean {
    return kind === 'secrets' || kind === 'configmaps';
  }

  /** Resolves once it is known whether the object exists, or after a time-out. */
  async watch(reference: Reference): Promise<void> {
    const name = `${reference.kind} ${reference.key}`;
    let followed = this.#informers.get(name);
    if (followed === undefined) this.#informers.set(name, (followed = this.#start(reference)));
    await followed.synced;
  }

  unwatch({ kind, key }: Reference): void {
    this.#informers.get(`${kind} ${key}`)?.stop();
    this.#informers.delete(`${kind} ${key}`);
  }

  stop(): void {
    for (const informer of this.#informers.values()) informer.stop();
  }

  #start(reference: Reference): { readonly synced: Promise<void>; stop(): void } {
    const { client, world, put } = this.#options;
    const [namespace = '', name = ''] = reference.key.split('/');
    const selection = { namespace, fieldSelector: `metadata.name=${name}` };
    const informer =
      reference.kind === 'secrets'
        ? new Informer({ client, world, kind: secretKind, selection })
        : new Informer({ client, world, kind: configMapKind, selection });
    const cancel = informer.cache.subscribe(({ after }: { readonly after: KubeObject | undefined }) => put(reference, after));
    informer.start();
    const patience = new Promise<void>((resolve) => void world.timers.after(firstAnswerMs, resolve));
    return {
      synced: Promise.race([informer.synced(), patience]),
      stop: () => {
        cancel();
        informer.stop();
      },
    };
  }
}
