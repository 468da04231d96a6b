/** The author of each write. Objects do not record it, so it is recorded with the request. */
import type { KubeObject } from '../../api/object.ts';
import { isRead, type RequestInfo } from '../../api/request-info.ts';
import type { Answer, Transport } from '../../client/transport.ts';

/** Short names for the timeline. */
const shortNames: Readonly<Record<string, string>> = {
  'persistent-volume-binder': 'pv-controller',
  'moor-scheduler': 'scheduler',
  'generic-garbage-collector': 'garbage-collector',
  'volume-attacher': 'attacher',
};

export const shortControllerName = (name: string): string => shortNames[name] ?? name.replace(/-controller$/, '');

/** The most revisions and paths to remember. */
const mostKept = 10_000;

export class WriteAuthors {
  readonly #byRevision = new Map<number, string>();
  readonly #byPath = new Map<string, string>();

  /** The same server; writes through this transport are recorded under the name of the actor. */
  recordedAs(actor: string, transport: Transport): Transport {
    return {
      watch: (request, sink) => transport.watch(request, sink),
      send: async (request) => {
        if (isRead(request.info)) return transport.send(request);
        this.#byPath.set(objectPath(request.info), actor);
        const answer = await transport.send(request);
        this.#note(actor, answer);
        return answer;
      },
    };
  }

  /** Known after the response, if it contains the object; that to a Binding does not. */
  authorOf(revision: number): string | undefined {
    return this.#byRevision.get(revision);
  }

  /** The author of the last request for the object. */
  lastAuthorOf(object: KubeObject, plural: string): string | undefined {
    const { namespace = '', name = '' } = object.metadata;
    return this.#byPath.get(namespace === '' ? `${plural}/${name}` : `namespaces/${namespace}/${plural}/${name}`);
  }

  #note(actor: string, answer: Answer): void {
    if (answer.type !== 'object') return;
    // The response to a bind transaction has the volume and the claim.
    const { volume, claim } = answer.object as { readonly volume?: KubeObject; readonly claim?: KubeObject };
    for (const object of [answer.object, volume, claim]) {
      const revision = Number(object?.metadata?.resourceVersion);
      // The response to the removal of the last finalizer has the old revision, of another author.
      if (revision > 0 && !this.#byRevision.has(revision)) this.#byRevision.set(revision, actor);
    }
    if (this.#byRevision.size > mostKept) for (const old of [...this.#byRevision.keys()].slice(0, mostKept / 2)) this.#byRevision.delete(old);
    if (this.#byPath.size > mostKept) for (const old of [...this.#byPath.keys()].slice(0, mostKept / 2)) this.#byPath.delete(old);
  }
}

/** 'namespaces/default/pods/web' */
function objectPath(info: RequestInfo): string {
  if (info.type === 'path') return info.path;
  const { resource, namespace, name } = info;
  return namespace === '' || resource === 'namespaces' ? `${resource}/${name}` : `namespaces/${namespace}/${resource}/${name}`;
}
