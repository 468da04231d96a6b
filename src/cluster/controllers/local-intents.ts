import { allKinds } from '../../api/kinds/index.ts';
import { volumeIntentKind } from '../../api/kinds/mooring/volume-intent.ts';
import type { Transport, TransportRequest } from '../../client/transport.ts';
import { createApi } from '../../apiserver/create-api.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import type { World } from '../../world/world.ts';
import { createInProcessTransport } from '../access/in-process-transport.ts';

export interface LocalIntents {
  /** The same server, as if it had our kinds. */
  wrap(transport: Transport): Transport;
  close(): Promise<void>;
}

/**
 * For servers that do not have our own kinds (any other Kubernetes, and ours under --plain): intents are kept in this
 * process. Names of volumes follow from claims all the same, so the next process finds what this one had begun; what is
 * lost with it is the memory of assets whose claim went meanwhile, which is what Kubernetes itself would lose.
 */
export function keepLocalIntents(world: World): LocalIntents {
  const store = openMemoryStore();
  // A registry takes all kinds or none: its admission looks at many of them.
  const api = createApi({ store, world, kinds: allKinds });
  const kept = createInProcessTransport(api, { name: 'moor-controllers', groups: ['system:masters'] }, 'moor/controllers');
  const isOurs = ({ info }: Pick<TransportRequest, 'info'>) => info.type === 'resource' && info.group === volumeIntentKind.group;
  // The fence is the other server's business: here nobody else writes.
  return {
    wrap: (transport) => ({
      send: ({ fence, ...request }) => (isOurs(request) ? kept.send(request) : transport.send(fence === undefined ? request : { ...request, fence })),
      watch: (request, sink) => (isOurs(request) ? kept : transport).watch(request, sink),
    }),
    close: async () => {
      await api.stop();
      await store.close();
    },
  };
}
