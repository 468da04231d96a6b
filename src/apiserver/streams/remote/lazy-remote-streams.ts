import type { PodStreams } from '../../../streams/contract.ts';
import type { RemoteNodes, RemoteNodesOptions } from './remote-nodes.ts';

/** The streams of nodes in other processes. The kubelet client is loaded with the first request: a start does not wait for it. */
export function lazyRemoteStreams(options: RemoteNodesOptions): (node: string) => PodStreams {
  let nodes: Promise<RemoteNodes> | undefined;
  const load = async (): Promise<RemoteNodes> => new (await import('./remote-nodes.ts')).RemoteNodes(options);
  const at = async (node: string): Promise<PodStreams> => (await (nodes ??= load())).streams(node);
  return (node) => ({
    logs: async (...asked) => (await at(node)).logs(...asked),
    exec: async (...asked) => (await at(node)).exec(...asked),
    attach: async (...asked) => (await at(node)).attach(...asked),
    portForward: async (...asked) => (await at(node)).portForward(...asked),
    proxy: async (...asked) => (await at(node)).proxy(...asked),
  });
}
