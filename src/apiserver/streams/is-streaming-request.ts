import type { ResourceRequestInfo } from '../../api/request-info.ts';

const inNamespaces: ReadonlySet<string> = new Set(['pods/log', 'pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy', 'services/proxy']);

/**
 * Whether a kubelet answers the request. Not in another scope than the kind's, nor as a watch: all rights in a namespace would
 * be the right to `/api/v1/namespaces/NAMESPACE/nodes/NODE/proxy/`, and with it to all pods of the node.
 */
export function isStreamingRequest({ group, resource, subresource, namespace, watchPath = false }: ResourceRequestInfo): boolean {
  if (subresource === '' || group !== '' || watchPath) return false;
  return namespace === '' ? resource === 'nodes' && subresource === 'proxy' : inNamespaces.has(`${resource}/${subresource}`);
}
