import type { Service } from '../../api/generated/types.ts';
import { serviceKind } from '../../api/kinds/core/service.ts';
import type { Stored } from '../../api/stored.ts';
import type { Informers } from '../../client/informers/informers.ts';

/** The services that containers of a namespace get variables for: those of the namespace, and `kubernetes` of the default one. */
export function servicesFrom(informers: Informers): (namespace: string) => readonly Stored<Service>[] {
  const services = informers.cache(serviceKind);
  const byNamespace = services.addIndex(({ metadata }) => [metadata.namespace ?? '']);
  return (namespace) => {
    const own = byNamespace.get(namespace);
    const kubernetes = services.getKey('default/kubernetes');
    return kubernetes === undefined || namespace === 'default' ? own : [...own, kubernetes];
  };
}
