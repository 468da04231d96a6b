/** The pods' network. The kernel removes a pod's veth pair, and the route to it, with the pod's network namespace. */
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { gatewayOf } from '../../../network/gateway.ts';
import { bridgeCommands, linkCommands, linkSysctls, type PodLink, type PodNetwork } from '../../../network/pod-network.ts';
import type { InterfaceAddress } from '../init/network-steps.ts';
import { run } from './processes.ts';

/** `fromHostLoopback`: as in `PodSandboxSpec`. */
type PodConnection = Omit<PodLink, 'outside'> & { readonly fromHostLoopback?: boolean | undefined };

export class Network {
  readonly #network: PodNetwork;
  #made: Promise<string> | undefined;
  /** Connections that wait for the running batch. */
  #waiting: { readonly commands: string; readonly done: (wrong: string) => void }[] = [];
  #isConnecting = false;

  constructor(network: PodNetwork) {
    this.#network = network;
  }

  /** Connects a process's network namespace. Resolves with the error; '': none. */
  async connect(uid: string, { pid, address, fromHostLoopback = false }: PodConnection): Promise<string> {
    const wrong = await this.#make();
    if (wrong !== '') return wrong;
    const outside = outsideOf(uid);
    const commands = linkCommands(this.#network, { outside, pid, address });
    const refused = await new Promise<string>((done) => {
      this.#waiting.push({ commands, done });
      if (!this.#isConnecting) void this.#connectWaiting();
    });
    return refused === '' ? setSysctls(outside, fromHostLoopback) : refused;
  }

  /** One ip(8) for the whole batch; if it fails, one for each connection. */
  async #connectWaiting(): Promise<void> {
    this.#isConnecting = true;
    for (let all = this.#waiting.splice(0); all.length > 0; all = this.#waiting.splice(0)) {
      const wrong = await run(['ip', '-batch', '-'], all.map(({ commands }) => commands).join(''));
      if (wrong === '' || all.length === 1) for (const { done } of all) done(wrong);
      else for (const { commands, done } of all) done(await run(['ip', '-force', '-batch', '-'], commands).then((said) => (isThere(said) ? '' : said)));
    }
    this.#isConnecting = false;
  }

  /** How a pod's interface is set up in its network namespace. */
  inside(address: string): InterfaceAddress {
    const [, prefix = '24'] = this.#network.cidr.split('/');
    return { address, prefix: Number(prefix), gateway: gatewayOf(this.#network.cidr) };
  }

  /** An earlier shim may have made it. */
  async remove(): Promise<void> {
    this.#made = undefined;
    await run(['ip', 'link', 'del', this.#network.bridge]);
  }

  #make(): Promise<string> {
    this.#made ??= this.#makeBridge().then((wrong) => {
      if (wrong !== '') this.#made = undefined;
      return wrong;
    });
    return this.#made;
  }

  /** The agent, or an earlier shim, may have made it. */
  async #makeBridge(): Promise<string> {
    const { add, setUp } = bridgeCommands(this.#network);
    await run(['ip', '-batch', '-'], add);
    return run(['ip', '-batch', '-'], setUp);
  }
}

function setSysctls(outside: string, fromHostLoopback: boolean): string {
  try {
    for (const [name, value] of linkSysctls(outside, fromHostLoopback)) {
      // A kernel without IPv6 has nothing to switch off.
      if (name.startsWith('net/ipv6/') && !existsSync('/proc/sys/net/ipv6')) continue;
      writeFileSync(`/proc/sys/${name}`, value);
    }
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Done already, by a batch that failed later. */
const isThere = (said: string): boolean => said.split('\n').every((line) => /File exists|^Command failed/.test(line));

/** At most 15 characters. */
const outsideOf = (uid: string): string => `moor${createHash('sha256').update(uid).digest('hex').slice(0, 10)}`;
