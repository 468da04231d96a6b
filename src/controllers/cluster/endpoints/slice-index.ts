import type { EndpointSlice } from '../../../api/generated/types.ts';
import { managedByLabel, serviceNameLabel } from './members.ts';

/** An index function: 'controller namespace/service'. */
export const managerAndService = ({ metadata: { namespace = '', labels = {} } }: EndpointSlice): readonly string[] => {
  const [controller, service] = [labels[managedByLabel], labels[serviceNameLabel]];
  return controller === undefined || service === undefined || service === '' ? [] : [`${controller} ${namespace}/${service}`];
};

/** 'namespace/service', if the controller manages the slice. */
export const serviceKeyOf = (slice: EndpointSlice, controller: string): readonly string[] =>
  managerAndService(slice).flatMap((value) => (value.startsWith(`${controller} `) ? [value.slice(controller.length + 1)] : []));
