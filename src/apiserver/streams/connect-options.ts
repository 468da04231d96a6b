import type { ResourceRequestInfo } from '../../api/request-info.ts';
import { attachOptions } from '../../streams/options.ts';

const proxyKinds: Readonly<Record<string, string>> = { pods: 'PodProxyOptions', services: 'ServiceProxyOptions', nodes: 'NodeProxyOptions' };
const podKinds: Readonly<Record<string, string>> = { exec: 'PodExecOptions', attach: 'PodAttachOptions', portforward: 'PodPortForwardOptions' };

/** What a connection asks for, as the object that admission sees: what is executed is read from the query in the same way. @throws ApiError */
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
    ...Object.fromEntries(Object.entries(attachOptions(query)).filter(([, isOn]) => isOn)),
    ...(container === '' ? {} : { container }),
    ...(subresource === 'exec' && command.length > 0 ? { command } : {}),
  };
}
