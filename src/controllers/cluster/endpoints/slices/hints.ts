/** Hints for kube-proxy by `trafficDistribution`: which zones or nodes an endpoint serves. */
import type { Endpoint, EndpointHints, Service } from '../../../../api/generated/types.ts';

export type TrafficDistribution = 'zone' | 'node' | 'anywhere';

export function trafficDistributionOf({ spec, metadata }: Service): TrafficDistribution {
  const { annotations = {} } = metadata;
  const mode = annotations['service.kubernetes.io/topology-aware-hints'] ?? annotations['service.kubernetes.io/topology-mode'];
  if (mode === 'Auto' || mode === 'auto') return 'anywhere';
  switch (spec.trafficDistribution) {
    case 'PreferClose':
    case 'PreferSameZone':
      return 'zone';
    case 'PreferSameNode':
      return 'node';
    default:
      return 'anywhere';
  }
}

/** The endpoint with its hints; the same object if nothing changes. Hints of endpoints that are not ready are left alone. */
export function withHints(endpoint: Endpoint, trafficDistribution: TrafficDistribution): Endpoint {
  if (trafficDistribution !== 'anywhere' && endpoint.conditions.ready !== true) return endpoint;
  const hints = hintsFor(endpoint, trafficDistribution);
  if (JSON.stringify(namesOf(hints)) === JSON.stringify(namesOf(endpoint.hints))) return endpoint;
  const { hints: _, ...rest } = endpoint;
  return hints === undefined ? rest : { ...rest, hints };
}

function hintsFor({ zone, nodeName }: Endpoint, trafficDistribution: TrafficDistribution): EndpointHints | undefined {
  if (trafficDistribution === 'anywhere') return undefined;
  const forNodes = trafficDistribution === 'node' && nodeName !== undefined ? { forNodes: [{ name: nodeName }] } : {};
  const hints = { ...(zone === undefined ? {} : { forZones: [{ name: zone }] }), ...forNodes };
  return Object.keys(hints).length === 0 ? undefined : hints;
}

const namesOf = (hints: EndpointHints | undefined): unknown =>
  hints === undefined ? null : [hints.forZones?.map(({ name }) => name) ?? [], hints.forNodes?.map(({ name }) => name) ?? []];
