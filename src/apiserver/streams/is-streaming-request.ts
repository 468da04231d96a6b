const ofPods: ReadonlySet<string> = new Set(['log', 'exec', 'attach', 'portforward']);

/** Whether a kubelet answers the request. */
export const isStreamingRequest = ({
  group,
  resource,
  subresource,
}: {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
}): boolean => subresource !== '' && group === '' && ((resource === 'pods' && ofPods.has(subresource)) || (resource === 'nodes' && subresource === 'proxy'));
