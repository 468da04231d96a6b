import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';

const ip = (...args: readonly string[]): void => void execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** A network namespace for each member of an etcd, joined by a bridge, so that a member can be cut off from the others. Needs root and iproute2. */
export class MemberNamespaces {
  readonly addresses: readonly string[];
  readonly #id = `me${randomBytes(2).toString('hex')}`;

  constructor(members: number) {
    const [a = 0, b = 0] = randomBytes(2);
    const network = `10.${100 + (a % 100)}.${b}`;
    this.addresses = Array.from({ length: members }, (_, i) => `${network}.${i + 1}`);
    ip('link', 'add', this.#id, 'type', 'bridge');
    ip('addr', 'add', `${network}.254/24`, 'dev', this.#id);
    ip('link', 'set', this.#id, 'up');
    for (const [member, address] of this.addresses.entries()) {
      const name = this.#name(member);
      ip('netns', 'add', name);
      ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      ip('link', 'set', name, 'master', this.#id, 'up');
      ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
      for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
    }
  }

  /** The command line of a program in the namespace of the member; its process is the program's. */
  command(member: number, program: string): readonly [string, ...string[]] {
    return ['ip', 'netns', 'exec', this.#name(member), program];
  }

  /** The member and the others do not reach each other any more; clients reach them all. */
  cut(member: number): void {
    for (const other of this.#others(member)) ip('-n', this.#name(member), 'route', 'add', 'blackhole', other);
  }

  join(member: number): void {
    for (const other of this.#others(member)) ip('-n', this.#name(member), 'route', 'del', 'blackhole', other);
  }

  remove(): void {
    for (const member of this.addresses.keys()) ip('netns', 'del', this.#name(member));
    ip('link', 'del', this.#id);
  }

  #name(member: number): string {
    return `${this.#id}-${member}`;
  }

  #others(member: number): readonly string[] {
    return this.addresses.filter((_, i) => i !== member);
  }
}
