import { allKinds } from '../../api/kinds/index.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import type { Transport, TransportRequest } from '../../client/transport.ts';
import { createApi } from '../../apiserver/create-api.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import type { World } from '../../world/world.ts';
import { createInProcessTransport } from '../access/in-process-transport.ts';

export interface LocalIntents {
  /** The same server, with VolumeIntents kept in this process. */
  wrap(transport: Transport): Transport;
  close(): Promise<void>;
}

/**
 * For API servers without the mooring.dev group (other Kubernetes servers, and Mooring with --plain): VolumeIntents are kept in this process. The
 * name of a volume follows from its PVC, so the next process finds what this one began. What is lost with the process are assets whose PVC was
 * deleted meanwhile, which Kubernetes' own provisioners lose as well.
 */
export function keepLocalIntents(world: World): LocalIntents {
  const store = openMemoryStore();
  // The registry needs all kinds: its admission plugins read many of them.
  const api = createApi({ store, world, kinds: allKinds });
  const kept = createInProcessTransport(api, { name: 'moor-controllers', groups: ['system:masters'] }, 'moor/controllers');
  const isIntent = ({ info }: Pick<TransportRequest, 'info'>) => info.type === 'resource' && info.group === volumeIntentKind.group;
  // The fence belongs to the other server: this process is the only writer of its own intents.
  return {
    wrap: (transport) => ({
      send: ({ fence, ...request }) => (isIntent(request) ? kept.send(request) : transport.send(fence === undefined ? request : { ...request, fence })),
      watch: (request, sink) => (isIntent(request) ? kept : transport).watch(request, sink),
    }),
    close: async () => {
      await api.stop();
      await store.close();
    },
  };
}
