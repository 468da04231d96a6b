import type { CSIDriver } from '../../api/generated/types.ts';
import { csiDriverKind } from '../../api/kinds/storage/csi-driver.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Stoppable } from '../../client/controller/leader-elected-controllers.ts';
import { changedObject } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { Cancel } from '../../world/world.ts';
import type { CsiSockets } from '../nodes/csi-endpoints.ts';
import type { PluginSockets } from '../nodes/plugin-sockets.ts';

export interface BuiltInDriversOptions {
  readonly informers: Informers;
  readonly sockets: Pick<CsiSockets, 'open' | 'plugins'>;
  readonly recorder: EventRecorder;
}

/**
 * CSIDrivers with the annotation mooring.dev/controller: built-in: the controllers of this leader act for them, in the place of their sidecars. For all other
 * drivers the sidecars act alone.
 */
export function builtInDrivers({ informers, sockets, recorder }: BuiltInDriversOptions): Stoppable {
  const open = new Map<string, { readonly address: string; readonly close: Cancel }>();
  const drivers = informers.cache(csiDriverKind);
  const follow = (name: string, after: CSIDriver | undefined) => {
    const address = after === undefined ? undefined : endpointOf(after, sockets.plugins);
    const known = open.get(name);
    if (known?.address === address) return;
    known?.close();
    open.delete(name);
    if (after === undefined || address === undefined) return;
    const onProblem = (message: string) =>
      recorder.record(after, { type: 'Warning', reason: 'CSIDriverNotReady', message: `The driver at ${address} cannot be used: ${message}` });
    if (!isSocketAddress(address)) onProblem(`annotation ${annotations.endpoint} must be ${socketForm}`);
    else open.set(name, { address, close: sockets.open({ address, driver: name, onProblem }) });
  };
  const unsubscribe = drivers.subscribe((change) => follow(changedObject(change).metadata.name, change.after));
  const unfollow = sockets.plugins.onChange((name) => follow(name, drivers.getKey(name)));
  return {
    stop() {
      unsubscribe();
      unfollow();
      for (const { close } of open.values()) close();
      open.clear();
    },
  };
}

/** Undefined: the driver has its controllers elsewhere. */
export function endpointOf({ metadata }: CSIDriver, plugins: PluginSockets): string | undefined {
  if (metadata.annotations?.[annotations.controller] !== 'built-in') return undefined;
  return metadata.annotations[annotations.endpoint] ?? plugins.addressOf(metadata.name ?? '');
}

export const socketForm = 'the absolute path of a unix socket: unix:///run/csi/csi.sock';

export const isSocketAddress = (address: string): boolean => /^unix:\/\/\/[^\0]{1,107}$/.test(address) && !address.split('/').includes('..');
