import { Trigger } from '../../client/controller/loop.ts';

/** What a CSI driver said of itself and this node: NodeGetInfo. */
export interface DriverNodeInfo {
  readonly name: string;
  readonly nodeID: string;
  /** Label → value. */
  readonly topology: Readonly<Record<string, string>>;
  /** Undefined: no limit. */
  readonly maxVolumes: number | undefined;
}

/** A CSI driver that registered by its socket. */
export interface PluginDriver extends DriverNodeInfo {
  /** installing: Node and CSINode are to name it. leaving: they are to forget it. */
  readonly phase: 'installing' | 'installed' | 'leaving';
}

interface Entry {
  driver: PluginDriver;
  settle: (error: string | undefined) => void;
}

/** The CSI drivers that registered by their sockets, on their way into the Node and the CSINode. The registration controller writes them there. */
export class PluginDrivers {
  readonly #node: string;
  readonly #entries = new Map<string, Entry>();
  /** Fires with the node's name. */
  readonly changed = new Trigger<string>();

  constructor(node: string) {
    this.#node = node;
  }

  /** Resolves once Node and CSINode name the driver, or with the reason why they never will. */
  install(info: DriverNodeInfo): Promise<string | undefined> {
    this.#entries.get(info.name)?.settle('it is registered anew');
    return new Promise((resolve) => {
      this.#entries.set(info.name, { driver: { ...info, phase: 'installing' }, settle: resolve });
      this.changed.fire(this.#node);
    });
  }

  /** Its answer to NodeGetInfo has changed: the CSINode follows, but for id and topology, which were checked when it was installed. */
  update({ name, maxVolumes }: DriverNodeInfo): void {
    const entry = this.#entries.get(name);
    if (entry?.driver.phase !== 'installed') return;
    entry.driver = { ...entry.driver, maxVolumes };
    this.changed.fire(this.#node);
  }

  uninstall(name: string): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.settle('its socket was removed');
    entry.driver = { ...entry.driver, phase: 'leaving' };
    this.changed.fire(this.#node);
  }

  all(): readonly PluginDriver[] {
    return Array.from(this.#entries.values(), ({ driver }) => driver);
  }

  has(name: string): boolean {
    return this.#entries.get(name)?.driver.phase === 'installed';
  }

  /** Node and CSINode name it. */
  confirmInstalled(name: string): void {
    const entry = this.#entries.get(name);
    if (entry?.driver.phase !== 'installing') return;
    entry.driver = { ...entry.driver, phase: 'installed' };
    entry.settle(undefined);
  }

  confirmUninstalled(name: string): void {
    if (this.#entries.get(name)?.driver.phase === 'leaving') this.#entries.delete(name);
  }

  /** Node or CSINode cannot name it. What they name of it already is removed. */
  refuse(name: string, error: string): void {
    const entry = this.#entries.get(name);
    if (entry?.driver.phase !== 'installing') return;
    entry.settle(error);
    entry.driver = { ...entry.driver, phase: 'leaving' };
    this.changed.fire(this.#node);
  }

  /** A write was refused by the API server for a reason that does not go away. */
  refuseInstalling(error: string): void {
    for (const { driver } of this.#entries.values()) this.refuse(driver.name, error);
  }
}
