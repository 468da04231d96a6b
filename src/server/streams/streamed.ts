const served: ReadonlySet<string> = new Set(['log', 'exec', 'attach', 'portforward']);

/** Whether a request is about what goes on inside of a pod, and answered with streams. */
export const isStreamed = ({ group, resource, subresource }: { readonly group: string; readonly resource: string; readonly subresource: string }): boolean =>
  subresource !== '' && resource === 'pods' && group === '' && served.has(subresource);
