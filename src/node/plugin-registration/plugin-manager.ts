import { validateCsiDriverName } from '../../api/validation/volume-sources.ts';
import type { CsiSocket } from '../../drivers/contract.ts';
import type { Channel } from '../../grpc/channel.ts';
import type { PluginInfo } from '../../grpc/generated/pluginregistration.ts';
import { CallLimit } from '../../world/call-limit.ts';
import type { HostFiles } from '../../world/mounts.ts';
import type { Sockets } from '../../world/sockets.ts';
import type { Cancel, Log, World } from '../../world/world.ts';
import type { DriverNodeInfo, PluginDrivers } from '../registration/plugin-drivers.ts';
import { resolveEndpoint } from './endpoint.ts';
import { getInfo, nodeInfo, notify } from './registration-calls.ts';
import { highestVersion, isLower, type Version, versionText } from './versions.ts';

export interface PluginManagerOptions {
  readonly world: Pick<World, 'timers' | 'log'>;
  /** The node's directory. */
  readonly root: string;
  readonly sockets: Sockets;
  readonly files: Pick<HostFiles, 'stat'>;
  /** 'unix:///path' */
  readonly connect: (address: string) => Channel;
  readonly drivers: PluginDrivers;
  /** The drivers in this process: none can register under their names. */
  readonly builtIn: ReadonlySet<string>;
  /** Volumes of the driver can be mounted. */
  readonly onRegistered: (driver: string, address: string) => void;
}

/** A registration socket, and what has come of it. */
interface Plugin {
  readonly path: string;
  readonly identity: string;
  readonly abort: AbortController;
  /** Its calls are running. */
  registering: boolean;
  registered: Registered | undefined;
  retryMs: number;
  cancelRetry: Cancel;
}

interface Registered extends CsiSocket {
  readonly name: string;
  readonly version: Version;
  readonly plugin: Plugin;
  /** 'unix:///path' */
  readonly address: string;
  /** Undefined: not yet. */
  info: DriverNodeInfo | undefined;
}

/** So many sockets are asked for what they are at once: each has a second to answer, so a folder full of sockets keeps a driver waiting, but not for ever. */
const mostAsked = 32;

/** kubernetes/pkg/util/goroutinemap/exponentialbackoff */
const [firstRetryMs, longestRetryMs] = [500, 122_000];

/**
 * The kubelet's plugin manager: registers CSI drivers whose sockets appear in `plugins_registry` below the node's directory, and deregisters them when the
 * sockets are gone.
 *
 *     GetInfo                    type, name, endpoint and versions are checked
 *     NodeGetInfo                from the driver itself, at its endpoint
 *     Node, CSINode              id, topology labels, limit: written by the registration controller
 *     NotifyRegistrationStatus   registered, or why not; then it is tried again, with growing delays
 */
export class PluginManager {
  readonly #options: PluginManagerOptions;
  readonly #log: Log;
  readonly #plugins = new Map<string, Plugin>();
  /** By the driver's name; also while it is being registered. */
  readonly #registered = new Map<string, Registered>();
  readonly #asked = new CallLimit(mostAsked);
  readonly #unwatch: Cancel;

  constructor(options: PluginManagerOptions) {
    this.#options = options;
    this.#log = options.world.log.with({ component: 'plugin-manager' });
    this.#unwatch = options.sockets.watch(`${options.root}/plugins_registry`, (sockets) => this.#onSockets(sockets));
  }

  /** Undefined: no driver of that name is registered. */
  socketOf(driver: string): CsiSocket | undefined {
    return this.#options.drivers.has(driver) ? this.#registered.get(driver) : undefined;
  }

  /** Names of the registered drivers. */
  names(): readonly string[] {
    return [...this.#registered.keys()].filter((name) => this.#options.drivers.has(name));
  }

  /** Asks the driver again what it can attach. */
  async refresh(driver: string): Promise<void> {
    const registered = this.#registered.get(driver);
    if (registered === undefined || !this.#options.drivers.has(driver)) return;
    try {
      registered.info = await nodeInfo(driver, registered.channel, registered.plugin.abort.signal);
      if (this.#registered.get(driver) === registered) this.#options.drivers.update(registered.info);
    } catch (error) {
      this.#log.warn('NodeGetInfo failed', { driver, error: messageOf(error) });
    }
  }

  /** Drivers stay in Node and CSINode: they register again at the next agent. */
  stop(): void {
    this.#unwatch();
    for (const plugin of this.#plugins.values()) this.#abandon(plugin);
    for (const { channel } of this.#registered.values()) channel.close();
  }

  #onSockets(sockets: ReadonlyMap<string, string>): void {
    for (const [path, plugin] of this.#plugins) if (sockets.get(path) !== plugin.identity) this.#remove(plugin);
    for (const [path, identity] of sockets) {
      if (this.#plugins.has(path)) continue;
      const plugin: Plugin = {
        path,
        identity,
        abort: new AbortController(),
        registering: false,
        registered: undefined,
        retryMs: firstRetryMs,
        cancelRetry: () => undefined,
      };
      this.#plugins.set(path, plugin);
      void this.#register(plugin);
    }
  }

  #abandon(plugin: Plugin): void {
    plugin.abort.abort();
    plugin.cancelRetry();
  }

  #remove(plugin: Plugin): void {
    this.#plugins.delete(plugin.path);
    this.#abandon(plugin);
    this.#deregister(plugin);
  }

  /** Another driver of the same name may have waited for that. */
  #deregister(plugin: Plugin): void {
    const { registered } = plugin;
    plugin.registered = undefined;
    if (registered === undefined) return;
    registered.channel.close();
    if (this.#registered.get(registered.name) !== registered) return;
    this.#registered.delete(registered.name);
    this.#options.drivers.uninstall(registered.name);
    this.#log.info('CSI driver deregistered', { driver: registered.name, socket: plugin.path });
    for (const other of this.#plugins.values())
      if (other !== plugin && other.registered === undefined && !other.registering) this.#retry(other, firstRetryMs / 10);
  }

  async #register(plugin: Plugin): Promise<void> {
    const { signal } = plugin.abort;
    const channel = this.#options.connect(`unix://${plugin.path}`);
    plugin.registering = true;
    try {
      const error = await this.#tryToRegister(plugin, channel);
      if (signal.aborted) return;
      await notify(channel, error, signal);
      if (error === undefined) this.#onRegistered(plugin);
      else this.#fail(plugin, error);
    } catch (error) {
      if (!signal.aborted) this.#fail(plugin, messageOf(error));
    } finally {
      plugin.registering = false;
      channel.close();
    }
  }

  /** Resolves with why it is not registered. */
  async #tryToRegister(plugin: Plugin, channel: Channel): Promise<string | undefined> {
    const { signal } = plugin.abort;
    const info = await this.#asked
      .run(() => getInfo(channel, signal))
      .catch((error: unknown) => {
        throw new Error(`RegisterPlugin error -- failed to get plugin info using RPC GetInfo at socket ${plugin.path}, err: ${messageOf(error)}`);
      });
    const checked = this.#check(plugin, info);
    if (typeof checked === 'string') return checked;
    const endpoint = await resolveEndpoint(info.endpoint === '' ? plugin.path : info.endpoint, this.#options);
    if (signal.aborted) return undefined;
    // Another plugin may have registered the name meanwhile.
    const taken = this.#check(plugin, info);
    if (typeof taken === 'string') return taken;
    const { pathInDriver } = endpoint;
    const address = `unix://${endpoint.path}`;
    const registered: Registered = {
      name: info.name,
      version: checked,
      plugin,
      address,
      channel: this.#options.connect(address),
      pathInDriver,
      info: undefined,
    };
    const replaced = this.#registered.get(info.name);
    if (replaced !== undefined) replaced.plugin.registered = undefined;
    replaced?.channel.close();
    this.#registered.set(info.name, registered);
    plugin.registered = registered;
    const failed = (why: string): string => `RegisterPlugin error -- plugin registration failed with err: ${why}`;
    try {
      registered.info = await nodeInfo(info.name, registered.channel, signal);
    } catch (error) {
      return failed(messageOf(error));
    }
    if (signal.aborted || plugin.registered !== registered) return failed('its socket was removed');
    const refused = await this.#options.drivers.install(registered.info);
    return refused === undefined ? undefined : failed(refused);
  }

  /** The version, or what is wrong. */
  #check(plugin: Plugin, { type, name, supportedVersions }: PluginInfo): Version | string {
    if (type !== 'CSIPlugin') return `RegisterPlugin error -- no handler registered for plugin type: ${type} at socket ${plugin.path}`;
    const wrong = (why: string): string =>
      `RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver ${name} at socket ${plugin.path}: ${why}`;
    const [invalid] = validateCsiDriverName(name, 'name');
    if (invalid !== undefined) return wrong(`${JSON.stringify(name)} is no CSI driver name: ${invalid.detail}`);
    const says = (why: string): string => wrong(`kubernetes.io/csi: ValidatePlugin for CSI driver ${JSON.stringify(name)} failed. ${why}`);
    if (this.#options.builtIn.has(name)) return says('The node has a driver of this name itself');
    const version = highestVersion(supportedVersions);
    if (typeof version === 'string') return says(version);
    const known = this.#registered.get(name);
    if (known !== undefined && known.plugin !== plugin && !isLower(known.version, version))
      return says(`Another driver with the same name is already registered with a higher supported version: ${JSON.stringify(versionText(known.version))}`);
    return version;
  }

  #onRegistered(plugin: Plugin): void {
    plugin.retryMs = firstRetryMs;
    const { registered } = plugin;
    if (registered === undefined) return;
    this.#log.info('CSI driver registered', { driver: registered.name, socket: plugin.path, nodeID: registered.info?.nodeID });
    this.#options.onRegistered(registered.name, registered.address);
  }

  #fail(plugin: Plugin, error: string): void {
    this.#deregister(plugin);
    const inMs = plugin.retryMs;
    plugin.retryMs = Math.min(2 * inMs, longestRetryMs);
    this.#log.warn('cannot register a plugin', { socket: plugin.path, error, retryInMs: inMs });
    this.#retry(plugin, inMs);
  }

  #retry(plugin: Plugin, ms: number): void {
    plugin.cancelRetry();
    plugin.cancelRetry = this.#options.world.timers.after(ms, () => void (plugin.abort.signal.aborted ? undefined : this.#register(plugin)));
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
