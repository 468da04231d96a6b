import type { KubeObject } from '../../api/object.ts';
import { isNewer } from '../../client/revision.ts';
import type { Answer, Stream, StreamSink } from '../../client/transport.ts';

/** Objects that were read one by one, as a list and an endless watch for one informer. */
export class ReadCollection {
  readonly #objects = new Map<string, KubeObject>();
  #sink: StreamSink | undefined;
  #listed: ReadonlyMap<string, KubeObject> = new Map();
  #latest = '1';

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  /** Undefined: the object is gone, or no pod of the node refers to it any more. */
  put(key: string, object: KubeObject | undefined): void {
    const before = this.#objects.get(key);
    if (object === undefined) {
      if (before === undefined) return;
      this.#objects.delete(key);
      this.#sink?.events([{ type: 'DELETED', object: before }]);
      return;
    }
    const revision = object.metadata.resourceVersion ?? '';
    if (before?.metadata.resourceVersion === revision) return;
    this.#objects.set(key, object);
    if (isNewer(revision, this.#latest)) this.#latest = revision;
    this.#sink?.events([{ type: before === undefined ? 'ADDED' : 'MODIFIED', object }]);
  }

  list(): Answer {
    this.#listed = new Map(this.#objects);
    return { type: 'list', items: [...this.#objects.values()], metadata: { resourceVersion: this.#latest } };
  }

  /** From the last list on. An event with an older resourceVersion than the last makes the informer list again, which is harmless. */
  watch(sink: StreamSink): Stream {
    this.#sink = sink;
    const gone = [...this.#listed].filter(([key]) => !this.#objects.has(key));
    const fresh = [...this.#objects].filter(([key, object]) => this.#listed.get(key) !== object);
    const missed = [...gone.map(([, object]) => ({ type: 'DELETED' as const, object })), ...fresh.map(([, object]) => ({ type: 'MODIFIED' as const, object }))];
    if (missed.length > 0) sink.events(missed);
    return {
      close: () => {
        if (this.#sink === sink) this.#sink = undefined;
      },
    };
  }
}
