/** How components write, as the server sees it: what holds for every request, whatever it is about. */
import { isRead, requestPath, type ResourceRequestInfo } from '../../api/request-info.ts';
import type { Answer, Transport, TransportRequest } from '../../client/transport.ts';
import type { Violation } from '../invariants/observer.ts';

export interface ConductOptions {
  readonly onViolation: (violation: Violation) => void;
}

interface WrittenMetadata {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

interface WrittenBody {
  readonly metadata?: WrittenMetadata;
  readonly preconditions?: WrittenMetadata;
}

/** Checks the requests of one connection of a component: each controller has its own. */
export function observeConduct(component: string, server: Transport, { onViolation }: ConductOptions): Transport {
  const underWay = new Map<string, { readonly what: string; readonly isRelease: boolean }>();
  return {
    watch: (request, sink) => server.watch(request, sink),
    send: async (request): Promise<Answer> => {
      const { info } = request;
      if (info.type !== 'resource' || !isRealWrite(request)) return await server.send(request);
      const [path, what] = [requestPath({ ...info, subresource: '' }), `${info.verb} ${requestPath(info)}`];
      if (!namesItsObject(request))
        onViolation({ invariant: 'a component changes only the object that it has read', what: `${component}: ${what} has neither uid nor resourceVersion` });
      const isRelease = releasesJobPod(request);
      const other = info.name === '' || mayOverlap(info) ? undefined : underWay.get(path);
      if (other !== undefined && !(isRelease && other.isRelease))
        onViolation({ invariant: 'a component writes an object only once at a time', what: `${component}: ${what}, and ${other.what} is not answered yet` });
      underWay.set(path, { what, isRelease });
      const answer = await server.send(request);
      underWay.delete(path);
      return answer;
    },
  };
}

/** Not leases, which have their own protocol, and events: there are many, and a crash at them proves little. */
export const isRealWrite = ({ info }: TransportRequest): boolean =>
  !isRead(info) && info.type === 'resource' && info.resource !== 'leases' && info.resource !== 'events';

/**
 * The scheduler reports on a pod while it nominates a node for it and binds it, as kube-scheduler does; binder and reclaimer have one identity; the provisioner
 * protects a claim for each of its clones; and a content is deleted for its snapshot while the driver's answer is written, by what are two processes upstream.
 */
const mayOverlap = ({ resource, subresource }: ResourceRequestInfo): boolean =>
  resource === 'persistentvolumes' ||
  resource === 'volumesnapshotcontents' ||
  resource === 'volumegroupsnapshotcontents' ||
  (resource === 'persistentvolumeclaims' && subresource === '') ||
  (resource === 'pods' && (subresource === 'status' || subresource === 'binding'));

/**
 * The Job controller releases the pods of a Job that is being deleted, and a queue of its own those that have lost their Job: of a Job that is deleted with
 * propagation Orphan both may release one pod at once. So it is in Kubernetes (v1.36.4, `orphanQueue`), and the second patch changes nothing.
 */
function releasesJobPod({ info, body }: TransportRequest): boolean {
  if (info.type !== 'resource' || info.verb !== 'patch' || info.resource !== 'pods') return false;
  const { metadata = {}, ...rest } = (body?.object ?? {}) as WrittenBody;
  const { uid, '$deleteFromPrimitiveList/finalizers': removed, ...more } = metadata as Readonly<Record<string, unknown>>;
  const isOnly = Object.keys(rest).length + Object.keys(more).length === 0;
  return isOnly && uid !== undefined && Array.isArray(removed) && removed.length === 1 && removed[0] === 'batch.kubernetes.io/job-tracking';
}

/** An object that was deleted and created again under the same name is another one. */
function namesItsObject({ info, body }: TransportRequest): boolean {
  const { metadata = {}, preconditions = {} } = (body?.object ?? {}) as WrittenBody;
  const isGiven = ({ uid = '', resourceVersion = '' }: WrittenMetadata) => uid !== '' || resourceVersion !== '';
  switch (info.verb) {
    case 'update':
      return (metadata.resourceVersion ?? '') !== '';
    case 'patch':
      return isGiven(metadata);
    case 'delete':
      return isGiven(preconditions);
    default:
      return true;
  }
}
