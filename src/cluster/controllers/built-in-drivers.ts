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
  const open = new Map<string, { readonly address: string; readonly timeout: string | undefined; readonly close: Cancel }>();
  const drivers = informers.cache(csiDriverKind);
  const follow = (name: string, after: CSIDriver | undefined) => {
    const address = after === undefined ? undefined : endpointOf(after, sockets.plugins);
    const timeout = after?.metadata.annotations?.[annotations.timeout];
    const known = open.get(name);
    if (known?.address === address && known?.timeout === timeout) return;
    known?.close();
    open.delete(name);
    if (after === undefined || address === undefined) return;
    const onProblem = (message: string) =>
      recorder.record(after, { type: 'Warning', reason: 'CSIDriverNotReady', message: `The driver at ${address} cannot be used: ${message}` });
    const timeoutMs = timeout === undefined ? undefined : timeoutOf(timeout);
    if (!isSocketAddress(address)) onProblem(`annotation ${annotations.endpoint} must be ${socketForm}`);
    else if (timeout !== undefined && timeoutMs === undefined) onProblem(`annotation ${annotations.timeout} must be from 1s to 1h: 250s, 10m, 1h`);
    else open.set(name, { address, timeout, close: sockets.open({ address, driver: name, onProblem, ...(timeoutMs === undefined ? {} : { timeoutMs }) }) });
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

/** '250s', '10m' or '1h', in milliseconds; undefined: it is none of these, or longer than an hour. */
function timeoutOf(text: string): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d{0,3})([smh])$/.exec(text) ?? [];
  const ms = Number(count) * (unit === 'h' ? hourMs : unit === 'm' ? 60_000 : 1000);
  return ms > 0 && ms <= hourMs ? ms : undefined;
}

const hourMs = 3_600_000;

export const socketForm = 'the absolute path of a unix socket: unix:///run/csi/csi.sock';

export const isSocketAddress = (address: string): boolean => /^unix:\/\/\/[^\0]{1,107}$/.test(address) && !address.split('/').includes('..');
