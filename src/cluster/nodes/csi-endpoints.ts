import { secretKind } from '../../api/kinds/core/secret.ts';
import type { Client } from '../../client/client.ts';
import { type DriverAnswer, failed, type SecretReference, succeeded } from '../../drivers/contract.ts';
import type { CsiEndpoint, CsiEndpoints } from '../../drivers/csi/controller-endpoints.ts';
import type { DriverSet } from '../../drivers/driver-set.ts';
import type { Cancel, World } from '../../world/world.ts';
import { PluginSockets } from './plugin-sockets.ts';

export interface CsiSocketsOptions {
  readonly world: World;
  readonly drivers: DriverSet;
  /** Reads the Secrets of the calls. */
  readonly client: Client;
  /** Where drivers are whose CSIDriver does not say it. */
  readonly plugins?: PluginSockets;
}

/** The sockets of CSI drivers that have their controllers in this process. The code is loaded with the first of them. */
export class CsiSockets {
  readonly plugins: PluginSockets;
  readonly #options: CsiSocketsOptions;
  #loading: Promise<CsiEndpoints> | undefined;
  #isClosed = false;

  constructor(options: CsiSocketsOptions) {
    this.#options = options;
    this.plugins = options.plugins ?? new PluginSockets();
  }

  open(endpoint: CsiEndpoint): Cancel {
    let close: Cancel | undefined;
    let isOver = false;
    void this.#endpoints().then((endpoints) => {
      if (!isOver && !this.#isClosed) close = endpoints.open(endpoint);
    });
    return () => {
      isOver = true;
      close?.();
    };
  }

  /** Resolves when each endpoint has answered, or the time has passed: with the addresses of those that have not, and why. */
  async settled(timeoutMs: number): Promise<ReadonlyMap<string, string>> {
    return (await this.#endpoints()).settled(timeoutMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    (await this.#loading)?.close();
  }

  #endpoints(): Promise<CsiEndpoints> {
    return (this.#loading ??= this.#load());
  }

  async #load(): Promise<CsiEndpoints> {
    const [{ CsiEndpoints }, { Http2Channel }] = await Promise.all([
      import('../../drivers/csi/controller-endpoints.ts'),
      import('../../grpc/http2-channel.ts'),
    ]);
    const { world, drivers, client } = this.#options;
    const dial = (address: string, onLost: () => void) => new Http2Channel({ address, timers: world.timers, onLost });
    return new CsiEndpoints({ world, drivers, dial, readSecret: (reference) => readSecret(client, reference) });
  }
}

async function readSecret(client: Client, { namespace, name }: SecretReference): Promise<DriverAnswer<Readonly<Record<string, string>>>> {
  const secret = await client.get(secretKind, { namespace, name });
  if (!secret.ok) return failed('Unavailable', `error getting secret ${name} in namespace ${namespace}: ${secret.error.message}`);
  return succeeded(Object.fromEntries(Object.entries(secret.value.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')])));
}
