const ofPods: ReadonlySet<string> = new Set(['log', 'exec', 'attach', 'portforward']);

/** Whether a request is about what goes on inside of a pod or on a node, and answered with streams. */
export const isStreamingRequest = ({
  group,
  resource,
  subresource,
}: {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
}): boolean => subresource !== '' && group === '' && ((resource === 'pods' && ofPods.has(subresource)) || (resource === 'nodes' && subresource === 'proxy'));
