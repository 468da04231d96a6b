import type { Namespace } from '../../../api/generated/types.ts';
import { eachOnce, type Kind, untypedKind } from '../../../api/kind.ts';
import type { Client } from '../../../client/client.ts';
import type { DefinedKinds } from '../../../client/controller/defined-kinds.ts';
import type { Informers } from '../../../client/informers/informers.ts';
import { defineController } from '../../../client/controller/define-controller.ts';
import { type Controller, outcomeOf, type Source, source, Trigger } from '../../../client/controller/loop.ts';
import { ObjectWriter } from '../../../client/controller/object-writer.ts';
import type { Clock } from '../../../world/world.ts';
import { type ContentDeleter, type ContentDeletion, deleteContent, type NamespaceAction } from './actions.ts';
import { decideNamespace, type NamespaceSnapshot } from './decide.ts';

export interface NamespaceControllerOptions {
  readonly clock: Clock;
  readonly client: Client;
  readonly informers: Informers;
  readonly namespaceKind: Kind<Namespace>;
  /** The built-in kinds. */
  readonly kinds: readonly Kind[];
  /** The kinds of CustomResourceDefinitions, which come and go. */
  readonly definedKinds: DefinedKinds;
  /** The custom kinds that the server serves at this moment, where the controller runs in the server's process. */
  readonly customKinds?: () => readonly Kind[];
}

/** Deletes the content of terminating namespaces, then removes their finalizer. Keys are names of namespaces. */
export function namespaceController(options: NamespaceControllerOptions): Controller<string, NamespaceSnapshot, NamespaceAction> {
  const { client, namespaceKind, informers, definedKinds } = options;
  const namespaces = informers.cache(namespaceKind);
  const isContent = (kind: Kind): boolean => kind.namespaced && kind.verbs.includes('delete');
  const known = eachOnce(options.kinds).filter(isContent);
  const deleter: ContentDeleter = {
    ...options,
    get contentKinds() {
      const custom = options.customKinds?.() ?? definedKinds.list();
      return custom.length === 0 ? known : eachOnce([...known, ...custom.filter(isContent)]);
    },
  };
  const deletions = new ContentDeletions();
  const deleted = new Trigger<string>();

  /** The last object of a kind in the namespace was deleted: the namespace may be empty now. */
  const emptied = (kind: Kind): Source<string> =>
    source(kind, ({ before, after }) => {
      const name = before?.metadata.namespace;
      if (name === undefined || after !== undefined || informers.cache(kind).hasAnyIn(name)) return [];
      if (namespaces.getKey(name)?.metadata.deletionTimestamp === undefined) return [];
      deletions.outdate(name);
      return [name];
    });

  return defineController({
    name: 'namespace',
    sources: [
      deleted,
      source(namespaceKind, ({ before, after }) => {
        if (after === undefined && before !== undefined) deletions.forget(before.metadata.name);
        return after?.metadata.deletionTimestamp === undefined ? [] : [after.metadata.name];
      }),
      ...known.filter(isWaitedFor).map(emptied),
      definedKinds.each(emptied),
    ],
    snapshot(name) {
      const namespace = namespaces.getKey(name);
      return namespace === undefined ? undefined : { namespace, deletion: deletions.get(name) };
    },
    decide: decideNamespace,
    writer: new ObjectWriter(client, [untypedKind(namespaceKind)]),
    actions: {
      async deleteContent({ namespace }, name) {
        await deletions.run(name, (failures) => deleteContent(namespace, failures, deleter));
        deleted.fire(name);
        return 'done';
      },
      async finalize({ namespace, finalizers }) {
        const finalized = { ...namespace, spec: { ...namespace.spec, finalizers: [...finalizers] } };
        return outcomeOf(await client.update(namespaceKind, finalized, { subresource: 'finalize' }));
      },
    },
    parallelism: 10,
  });
}

/** Events have no finalizers, so a deletion never waits for them, and caching all of them would be a waste. */
const isWaitedFor = (kind: Kind): boolean => kind.verbs.includes('watch') && kind.plural !== 'events';

/** The last deletion result of each namespace, valid as long as its content has not changed since. */
class ContentDeletions {
  readonly #last = new Map<string, { readonly deletion: ContentDeletion; outdated: boolean }>();
  /** Namespaces whose content changed during a deletion attempt: its result may be outdated. */
  readonly #changed = new Set<string>();

  get(name: string): ContentDeletion | undefined {
    const last = this.#last.get(name);
    return last === undefined || last.outdated ? undefined : last.deletion;
  }

  outdate(name: string): void {
    this.#changed.add(name);
    const last = this.#last.get(name);
    if (last !== undefined) last.outdated = true;
  }

  forget(name: string): void {
    this.#last.delete(name);
    this.#changed.delete(name);
  }

  async run(name: string, make: (failures: number) => Promise<ContentDeletion>): Promise<void> {
    this.#changed.delete(name);
    const deletion = await make(this.#last.get(name)?.deletion.failures ?? 0);
    this.#last.set(name, { deletion, outdated: this.#changed.has(name) });
  }
}
