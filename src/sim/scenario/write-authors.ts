/** Who wrote what: objects do not say it, so it is noted when somebody asks the server. */
import type { KubeObject } from '../../api/object.ts';
import { isRead, type RequestInfo } from '../../api/request-info.ts';
import type { Answer, Transport } from '../../client/transport.ts';

/** How people call those who have long names. */
const shortNames: Readonly<Record<string, string>> = {
  'persistent-volume-binder': 'pv-controller',
  'moor-scheduler': 'scheduler',
  'generic-garbage-collector': 'garbage-collector',
  'volume-attacher': 'attacher',
};

export const shortControllerName = (name: string): string => shortNames[name] ?? name.replace(/-controller$/, '');

/** Revisions whose writer nobody asked about yet. */
const mostKept = 10_000;

export class WriteAuthors {
  readonly #byRevision = new Map<number, string>();
  readonly #byPath = new Map<string, string>();

  /** The same server; whoever writes through this is remembered under that name. */
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

  /** Known once the writer has its answer, if that shows the object; a Binding is answered without. */
  authorOf(revision: number): string | undefined {
    return this.#byRevision.get(revision);
  }

  /** Who last asked for something to be done to it. */
  lastAuthorOf(object: KubeObject, plural: string): string | undefined {
    const { namespace = '', name = '' } = object.metadata;
    return this.#byPath.get(namespace === '' ? `${plural}/${name}` : `namespaces/${namespace}/${plural}/${name}`);
  }

  #note(actor: string, answer: Answer): void {
    if (answer.type !== 'object') return;
    // A volume and its claim, bound in one transaction, come as two objects in one.
    const { volume, claim } = answer.object as { readonly volume?: KubeObject; readonly claim?: KubeObject };
    for (const object of [answer.object, volume, claim]) {
      const revision = Number(object?.metadata?.resourceVersion);
      // Who takes the last finalizer away is answered with the object as it was before, and did not write that.
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
