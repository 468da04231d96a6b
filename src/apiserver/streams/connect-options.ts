import type { ResourceRequestInfo } from '../../api/request-info.ts';

const flags = ['stdin', 'stdout', 'stderr', 'tty'];
const proxyKinds: Readonly<Record<string, string>> = { pods: 'PodProxyOptions', services: 'ServiceProxyOptions', nodes: 'NodeProxyOptions' };
const podKinds: Readonly<Record<string, string>> = { exec: 'PodExecOptions', attach: 'PodAttachOptions', portforward: 'PodPortForwardOptions' };

/** What a connection asks for, as the object that admission sees. */
export function connectOptions({ resource, subresource, subpath = '' }: ResourceRequestInfo, query: URLSearchParams) {
  if (subresource === 'proxy') return { kind: proxyKinds[resource] ?? '', ...(subpath === '' ? {} : { path: subpath }) };
  const kind = podKinds[subresource] ?? '';
  if (subresource === 'portforward') {
    const ports = query.getAll('ports').map(Number);
    return { kind, ...(ports.length === 0 ? {} : { ports }) };
  }
  const container = query.get('container') ?? '';
  const command = query.getAll('command');
  return {
    kind,
    ...Object.fromEntries(flags.filter((flag) => !['', '0', 'false'].includes(query.get(flag) ?? '')).map((flag) => [flag, true])),
    ...(container === '' ? {} : { container }),
    ...(subresource === 'exec' && command.length > 0 ? { command } : {}),
  };
}
