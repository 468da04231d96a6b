import { Identity, PluginCapability_Service_Type as Service, PluginCapability_VolumeExpansion_Type as Expansion } from '../../../grpc/generated/csi.ts';
import type { CallHandler } from '../../../grpc/channel.ts';
import { handlersOf } from '../../../grpc/service.ts';
import type { DriverContext } from './driver-context.ts';

export function identityService({ backend, version }: DriverContext): ReadonlyMap<string, CallHandler> {
  const service = (type: Service) => ({ type: { case: 'service' as const, value: { type } } });
  return handlersOf(Identity, {
    getPluginInfo: () => Promise.resolve({ name: backend.driverName, vendorVersion: version }),
    getPluginCapabilities: () =>
      Promise.resolve({
        capabilities: [
          service(Service.CONTROLLER_SERVICE),
          service(Service.VOLUME_ACCESSIBILITY_CONSTRAINTS),
          { type: { case: 'volumeExpansion' as const, value: { type: backend.expandsOnline ? Expansion.ONLINE : Expansion.OFFLINE } } },
        ],
      }),
    probe: () => Promise.resolve({ ready: true }),
  });
}
