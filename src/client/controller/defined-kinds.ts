import { type CustomKinds, customKinds } from '../../api/apiextensions/custom-kind.ts';
import { type CustomResourceDefinition, isTrue } from '../../api/apiextensions/definition.ts';
import { apiVersionOf, type Kind, qualifiedResource } from '../../api/kind.ts';
import { customResourceDefinitionKind } from '../../api/kinds/apiextensions/custom-resource-definition.ts';
import type { Cancel } from '../../world/world.ts';
import { type Change, changedObject } from '../informers/cache.ts';
import type { Informers } from '../informers/informers.ts';
import type { Source } from './loop.ts';

/**
 * The kinds of the cluster's CustomResourceDefinitions, as these come, change and go. For controllers that work on every kind.
 *
 * Guarantees: a kind is followed in one version at a time, the preferred one. Before it is given up, its cache reports all of its objects
 * as deleted.
 */
export class DefinedKinds {
  readonly #informers: Informers;
  /** Resources that the controllers follow anyway, whether they are defined or not: 'volumesnapshots.snapshot.storage.k8s.io'. */
  readonly #followedAnyway: ReadonlySet<string>;
  /** By the name of the definition. `followed` is undefined if none of its versions is served. */
  readonly #known = new Map<string, { readonly kinds: CustomKinds; readonly followed: Kind | undefined }>();
  readonly #followers = new Set<Follower>();

  constructor(informers: Informers, followedAnyway: readonly Kind[] = []) {
    this.#informers = informers;
    this.#followedAnyway = new Set(followedAnyway.map(qualifiedResource));
    informers.cache(customResourceDefinitionKind).subscribe((change) => this.#changed(change));
  }

  /** By apiVersion and kind, as in an owner reference. */
  find({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): Kind | undefined {
    for (const { kinds } of this.#known.values()) {
      const found = kinds.served.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Each kind once, in the version that is followed. */
  list(): readonly Kind[] {
    return [...this.#known.values()].flatMap(({ followed }) => (followed === undefined ? [] : [followed]));
  }

  /** One source for each of them, as long as its kind is served. */
  each<Key extends string>(make: (kind: Kind) => Source<Key>): Source<Key> {
    return {
      subscribe: (informers, add) => {
        const open = new Map<Kind, Cancel>();
        const follower: Follower = {
          came: (kind) => void open.set(kind, make(kind).subscribe(informers, add)),
          gone: (kind) => {
            open.get(kind)?.();
            open.delete(kind);
          },
        };
        this.#followers.add(follower);
        for (const kind of this.list()) follower.came(kind);
        return () => {
          this.#followers.delete(follower);
          for (const cancel of open.values()) cancel();
        };
      },
    };
  }

  #changed(change: Change<CustomResourceDefinition>): void {
    const { after } = change;
    const { name } = changedObject(change).metadata;
    if (this.#followedAnyway.has(name)) return;
    const old = this.#known.get(name)?.followed;
    const kinds = after !== undefined && isTrue(after, 'Established') ? customKinds(after) : undefined;
    const [preferred] = kinds?.served ?? [];
    const isSame = old !== undefined && preferred !== undefined && old.plural === preferred.plural && apiVersionOf(old) === apiVersionOf(preferred);
    const followed = isSame ? old : preferred;
    if (kinds === undefined) this.#known.delete(name);
    else this.#known.set(name, { kinds, followed });
    if (isSame) return;
    if (old !== undefined) this.#giveUp(old);
    if (followed !== undefined) for (const { came } of this.#followers) came(followed);
  }

  #giveUp(kind: Kind): void {
    this.#informers.drop(kind);
    for (const { gone } of this.#followers) gone(kind);
  }
}

interface Follower {
  readonly came: (kind: Kind) => void;
  readonly gone: (kind: Kind) => void;
}
