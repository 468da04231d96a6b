import type { Kind } from '../../../api/kind.ts';
import type { KubeObject } from '../../../api/object.ts';
import { requestPath, resourceRequestInfo } from '../../../api/request-info.ts';
import { ApiError, type Status } from '../../../api/status.ts';
import type { Stored } from '../../../api/stored.ts';
import type { ListMeta, StreamEvent, StreamSink } from '../../../client/transport.ts';
import type { List, ListOptions, Resource, WatchOptions } from '../../../client/client.ts';
import type { ListerWatcher } from '../../../client/informers/informer.ts';
import { failure, type Result } from '../../../client/result.ts';
import { errorOfStatus, send } from './requests.ts';

/** List and watch over fetch: what the informers of the controllers need, for those of the page. */
export const browserClient: ListerWatcher = {
  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<Result<List<Stored<T>>>> {
    const { limit, continue: token } = options;
    try {
      const answer = await send(pathOf('list', kind, { namespace: options.namespace, limit, continue: token }));
      const { items, metadata, apiVersion } = (await answer.json()) as ListObject<T>;
      // Kubernetes leaves the type out of a list's items.
      return { ok: true, value: { items: items.map((item) => ({ ...item, apiVersion, kind: kind.kind })), metadata } };
    } catch (error) {
      if (error instanceof ApiError) return failure(error);
      return { ok: false, reason: 'unreachable', error: error as Error };
    }
  },
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions, sink: StreamSink<Stored<T>>) {
    const { resourceVersion, timeoutSeconds, namespace, fieldSelector } = options;
    const path = pathOf('watch', kind, { namespace, watch: 'true', allowWatchBookmarks: 'true', fieldSelector, resourceVersion, timeoutSeconds });
    const abort = new AbortController();
    readEvents(path, abort.signal, (batch) => sink.events(batch as StreamEvent<Stored<T>>[])).then(
      () => abort.signal.aborted || sink.end(undefined),
      (error: unknown) => abort.signal.aborted || sink.end(error instanceof ApiError ? error : undefined),
    );
    return { close: () => abort.abort() };
  },
};

interface ListObject<T> {
  readonly apiVersion: string;
  readonly items: readonly Stored<T & KubeObject>[];
  readonly metadata: ListMeta;
}

interface Query {
  readonly namespace: string | undefined;
  readonly [parameter: string]: string | number | undefined;
}

function pathOf(verb: 'list' | 'watch', kind: Resource, { namespace, ...parameters }: Query): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value));
  return `${requestPath(resourceRequestInfo(verb, kind, { namespace }))}?${query.toString()}`;
}

/** @throws ApiError if the server refuses or ends the watch with an error */
async function readEvents(path: string, signal: AbortSignal, deliver: (batch: readonly StreamEvent[]) => void): Promise<void> {
  const response = await send(path, { signal });
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let begun = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = `${begun}${value}`.split('\n');
    begun = lines.pop() ?? '';
    if (begun.length > longestLine) return;
    const events = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as { type: StreamEvent['type'] | 'ERROR'; object: KubeObject });
    const end = events.find(({ type }) => type === 'ERROR');
    deliver(events.filter((event): event is StreamEvent => event.type !== 'ERROR'));
    if (end !== undefined) throw errorOfStatus(end.object as unknown as Partial<Status>);
  }
}

/** Kubernetes stores no object that is larger. */
const longestLine = 8 * 1024 * 1024;
