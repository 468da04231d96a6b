import { expect, test } from 'vitest';
import type { APIService, EndpointSlice, Service } from '../../api/generated/types.ts';
import { unavailability } from './availability.ts';

const apiService: APIService = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.example.com' },
  spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, service: { namespace: 'a', name: 'b', port: 443 } },
  status: {},
};
const service = (spec: Service['spec']): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'b', namespace: 'a' },
  spec,
  status: { loadBalancer: {} },
});
const withPort = (port: number): Service => service({ ports: [{ port, targetPort: port }] });
const slice = (ready: boolean | undefined, name = ''): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'b-1' },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], conditions: ready === undefined ? {} : { ready } }],
  ports: [{ name, port: 8443 }],
});
const https = withPort(443);

test.each([
  ['the Service is missing', undefined, [], 'ServiceNotFound', 'service/b in "a" is not present'],
  ['it has another port', withPort(80), [slice(true)], 'ServicePortError', 'service/b in "a" is not listening on port 443'],
  ['there are no EndpointSlices', https, [], 'EndpointsNotFound', 'cannot find endpointslices for service/b in "a"'],
  ['no endpoint is ready', https, [slice(false)], 'MissingEndpoints', 'endpointslices for service/b in "a" have no addresses with port name ""'],
  ['only another port is', https, [slice(true, 'other')], 'MissingEndpoints', 'endpointslices for service/b in "a" have no addresses with port name ""'],
])('unavailable if %s', (_, found, slices, reason, message) => {
  expect(unavailability(apiService, { service: found, slices })).toEqual({ status: 'False', reason, message });
});

test.each([
  ['an endpoint is ready', https, [slice(true)]],
  ['it does not say whether it is', https, [slice(undefined)]],
  ['the Service is a name outside of the cluster', service({ type: 'ExternalName', externalName: 'x.example.com' }), []],
])('the server is asked if %s', (_, found, slices) => {
  expect(unavailability(apiService, { service: found, slices })).toBeUndefined();
});
