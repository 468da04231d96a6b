/** What every driver of a node holds to, whatever its volumes are made of. */
import { describe, expect, test } from 'vitest';
import type { HostFiles, Mounts } from '../world/mounts.ts';
import { type DriverAnswer, failed, type NodeDriver, type PublishedVolume, type PublishToPodRequest } from './contract.ts';
import type { NodeHost } from './files/node-host.ts';

/** A machine that processes can die on. */
export interface MachineUnderTest {
  /** As one process sees it. Hooks are awaited before and after each call takes effect. */
  host(hooks?: { readonly before?: Hook; readonly after?: Hook }): Host;
}

type Host = Mounts & HostFiles;
type Hook = (call: { readonly name: keyof Mounts | keyof HostFiles }) => Promise<void> | void;

export interface DriverUnderTest {
  /** A fresh one, on which nothing is mounted but its root. */
  readonly machine: () => MachineUnderTest;
  /** On a host where everything that the volume needs exists. */
  readonly make: (host: NodeHost) => Promise<NodeDriver>;
  readonly volume: Partial<PublishToPodRequest['volume']> & Pick<PublishToPodRequest['volume'], 'source'>;
  readonly pod?: PublishToPodRequest['pod'];
  /** The directory in which its data is, and stays. Undefined: the volume is as old as its pod, and what is in it goes with it. */
  readonly data: string | undefined;
  /** What has to be there before any driver is made. */
  readonly prepare?: (host: NodeHost) => Promise<void>;
}

const target = '/node/pods/uid/volumes/plugin/data';
const staging = '/node/plugins/plugin/handle/globalmount';
const directory = '/node/pods/uid/volumes/plugin';
const usualPod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, spec: { containers: [], securityContext: { fsGroup: 4711 } }, status: {} };

class Bench {
  readonly machine: MachineUnderTest;
  readonly host: Host;
  readonly told: string[] = [];
  readonly under: DriverUnderTest;

  constructor(under: DriverUnderTest) {
    this.under = under;
    this.machine = under.machine();
    this.host = this.machine.host();
  }

  static async open(under: DriverUnderTest): Promise<Bench> {
    const bench = new Bench(under);
    await bench.host.makeDirectory(directory, 0o750);
    await bench.host.makeDirectory(above(staging), 0o750);
    await under.prepare?.(both(bench.host));
    if (under.data !== undefined) {
      await bench.host.makeDirectory(under.data, 0o755);
      await bench.host.write(`${under.data}/precious`, new Uint8Array([1]), 0o600);
    }
    return bench;
  }

  driver(host = this.host): Promise<NodeDriver> {
    return this.under.make(both(host));
  }

  get request(): PublishToPodRequest {
    const { volume, pod = usualPod as unknown as PublishToPodRequest['pod'] } = this.under;
    const plain = { name: 'data', persistentVolume: undefined, readOnly: false, mountOptions: [], mode: 'Filesystem' as const, publishContext: {} };
    return { volume: { ...plain, ...volume }, pod, target, stagingPath: undefined, tell: (reason) => void this.told.push(reason) };
  }

  /** For the node, if the driver does that, and then for the pod. */
  async publish(driver: NodeDriver): Promise<DriverAnswer<PublishedVolume>> {
    if (!driver.facts.stages) return driver.publish(this.request);
    const staged = (await driver.stage?.({ volume: this.request.volume, stagingPath: staging })) ?? failed('Unimplemented', 'it does not stage');
    return staged.ok ? driver.publish({ ...this.request, stagingPath: staging }) : staged;
  }

  /** From the pod, and then from the node. */
  async unpublish(driver: NodeDriver): Promise<DriverAnswer<undefined>> {
    const undone = await driver.unpublish({ target, name: 'data', podUid: 'uid' });
    if (!undone.ok || !driver.facts.stages) return undone;
    return (await driver.unstage?.({ handle: 'data', stagingPath: staging })) ?? failed('Unimplemented', 'it does not unstage');
  }

  /** All that is on the machine: mounts, and files with owners and modes. */
  async picture(): Promise<readonly string[]> {
    const table = await this.host.table();
    const mounts = table.map((entry) => `mount ${entry.target} ${entry.device} ${entry.root} ${entry.options.join()}`);
    return [...mounts, ...(await this.#filesIn('/'))];
  }

  async #filesIn(path: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (const name of await this.host.list(path)) {
      const child = `${path === '/' ? '' : path}/${name}`;
      const facts = await this.host.look(child);
      found.push(`${child} ${facts?.type} ${facts?.mode.toString(8)} ${facts?.uid}:${facts?.gid} ${facts?.size}`);
      if (facts?.type === 'directory') found.push(...(await this.#filesIn(child)));
    }
    return found;
  }

  async expectNothingLeft(): Promise<void> {
    expect(await this.host.list(directory)).toEqual([]);
    expect(await this.host.look(staging)).toBeUndefined();
    expect((await this.host.table()).map((entry) => entry.target)).toEqual(['/']);
    if (this.under.data !== undefined) expect(await this.host.list(this.under.data)).toContain('precious');
  }
}

const above = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const both = (host: Host): NodeHost => ({ mounts: host, files: host });
const done = expect.objectContaining({ ok: true });

/** A host whose process is gone after its n-th change. */
function dyingAfter(machine: MachineUnderTest, fatal: number): { readonly host: Host; readonly died: Promise<void>; readonly count: () => number } {
  let changes = 0;
  let die = (): void => undefined;
  const died = new Promise<void>((resolve) => {
    die = resolve;
  });
  const after: Hook = ({ name }) => {
    if (name === 'look' || name === 'list' || name === 'table' || name === 'read' || name === 'readLink' || ++changes < fatal) return undefined;
    die();
    return new Promise<never>(() => undefined);
  };
  return { host: machine.host({ after }), died, count: () => changes };
}

export function describeNodeDriver(name: string, under: DriverUnderTest): void {
  describe(`${name}, as every driver of a node`, () => {
    test('publishes, and tells where', async () => {
      const bench = await Bench.open(under);
      const answer = await bench.publish(await bench.driver());
      expect(answer).toEqual(done);
      expect(answer.ok && (await bench.host.look(answer.value.path, 'follow'))).toBeDefined();
    });

    test('publishes once more without touching anything', async () => {
      const bench = await Bench.open(under);
      await bench.publish(await bench.driver());
      const before = await bench.picture();
      // As another process would, which knows nothing of the first.
      expect(await bench.publish(await bench.driver())).toEqual(done);
      expect(await bench.picture()).toEqual(before);
    });

    test('unpublishes what it published, and what it did not', async () => {
      const bench = await Bench.open(under);
      const driver = await bench.driver();
      expect(await bench.unpublish(driver)).toEqual(done);
      await bench.publish(driver);
      expect(await bench.unpublish(driver)).toEqual(done);
      await bench.expectNothingLeft();
      expect(await bench.unpublish(driver)).toEqual(done);
      expect(await bench.publish(driver)).toEqual(done);
    });

    test('wherever it dies while it publishes, the next one publishes the same or takes all of it away', async () => {
      for (let fatal = 1; ; fatal++) {
        const bench = await Bench.open(under);
        const { host, died, count } = dyingAfter(bench.machine, fatal);
        const driver = await bench.driver(host);
        await Promise.race([bench.publish(driver), died]);
        const isOver = count() < fatal;
        const next = await bench.driver();
        if (fatal % 2 === 0) expect(await bench.publish(next), `after ${fatal}`).toEqual(done);
        expect(await bench.unpublish(next), `after ${fatal}`).toEqual(done);
        await bench.expectNothingLeft();
        expect(await bench.publish(next), `after ${fatal}`).toEqual(done);
        if (isOver) return;
      }
    });

    test('wherever it dies while it unpublishes, the next one goes on', async () => {
      for (let fatal = 1; ; fatal++) {
        const bench = await Bench.open(under);
        await bench.publish(await bench.driver());
        const { host, died, count } = dyingAfter(bench.machine, fatal);
        await Promise.race([bench.unpublish(await bench.driver(host)), died]);
        expect(await bench.unpublish(await bench.driver()), `after ${fatal}`).toEqual(done);
        await bench.expectNothingLeft();
        if (count() < fatal) return;
      }
    });

    test('answers, and does not throw, when the machine refuses', async () => {
      const bench = await Bench.open(under);
      const refusing = bench.machine.host({
        before: ({ name: call }) => {
          if (call === 'mount' || call === 'makeDirectory' || call === 'write') throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        },
      });
      const answer = await bench.publish(await bench.driver(refusing));
      if (!answer.ok) expect(answer).toMatchObject({ code: 'Internal', message: 'no space left on device' });
      await bench.unpublish(await bench.driver());
      await bench.expectNothingLeft();
    });
  });
}
