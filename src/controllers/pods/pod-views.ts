import type { Pod } from '../../api/generated/types.ts';
import type { Kind } from '../../api/kind.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Stored } from '../../api/stored.ts';
import type { Source } from '../../client/controller/loop.ts';
import type { Change, Index } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Cancel } from '../../world/world.ts';
import { controllerUid } from './ownership.ts';

/** What a controller keeps up about the pods that an owner controls. */
export interface PodView {
  /** `before`, `after`: the pod, if the owner controlled it then. */
  podChanged(before: Stored<Pod> | undefined, after: Stored<Pod> | undefined): void;
}

export interface PodViewsOptions<Owner, View> {
  readonly informers: Informers;
  /** The kind of the owners. */
  readonly kind: Kind;
  readonly make: (owner: Owner, pods: readonly Stored<Pod>[]) => View;
  /** Differs whenever anything of the owner differs that its view is made of. By default its generation, which counts the changes of its spec. */
  readonly madeFor?: (owner: Owner) => string;
}

/**
 * The views of the owners that were decided about. As a source it enqueues nothing: while the loop runs, it keeps the views up, so that a decision does
 * not look at every pod after every change of one. Before the loop runs, and after it, each view is made for its caller alone.
 */
export class PodViews<Owner extends Stored, View extends PodView> implements Source<string> {
  readonly #options: PodViewsOptions<Owner, View>;
  readonly #pods: Index<Pod>;
  /** By the uid of the owner. */
  readonly #views = new Map<string, { readonly madeFor: string; readonly view: View }>();
  #keepsUp = false;

  constructor(options: PodViewsOptions<Owner, View>) {
    this.#options = options;
    this.#pods = options.informers.cache(podKind).addIndex(controllerUid);
  }

  /** A view is made anew if the spec of its owner has changed: any pod may be affected. */
  of(owner: Owner): View {
    const { uid, generation = 0 } = owner.metadata;
    const madeFor = this.#options.madeFor?.(owner) ?? String(generation);
    const known = this.#views.get(uid);
    if (known !== undefined && known.madeFor === madeFor) return known.view;
    const view = this.#options.make(owner, this.#pods.get(uid));
    if (this.#keepsUp) this.#views.set(uid, { madeFor, view });
    return view;
  }

  /** Undefined: there is none yet. The next call of `of` makes it from what is known then. */
  kept(uid: string): View | undefined {
    return this.#views.get(uid)?.view;
  }

  subscribe(informers: Informers): Cancel {
    const cancelPods = informers.cache(podKind).subscribe((change) => this.#podChanged(change));
    const cancelOwners = informers.cache(this.#options.kind).subscribe((change) => this.#ownerChanged(change));
    this.#keepsUp = true;
    return () => {
      this.#keepsUp = false;
      this.#views.clear();
      cancelPods();
      cancelOwners();
    };
  }

  #podChanged({ before, after }: Change<Pod>): void {
    const [from = ''] = before === undefined ? [] : controllerUid(before);
    const [to = ''] = after === undefined ? [] : controllerUid(after);
    if (from === to) return this.kept(from)?.podChanged(before, after);
    this.kept(from)?.podChanged(before, undefined);
    this.kept(to)?.podChanged(undefined, after);
  }

  #ownerChanged({ before, after }: Change<KubeObject>): void {
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#views.delete(before.metadata.uid);
  }
}
