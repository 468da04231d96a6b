/**
 * The conformance suite of node drivers. It runs on simulated machines everywhere, and on this machine for the types that it can mount.
 */
import { describe, expect, test } from 'vitest';
import type { HostFiles, Mounts } from '../world/mounts.ts';
import type { Programs } from '../world/programs.ts';
import { type DriverAnswer, failed, type NodeDriver, type NodePublishVolumeRequest, type NodePublishVolumeResponse } from './contract.ts';
import type { HostWithPrograms } from './mount/mount-program.ts';
import { directoryOf, type NodeHost } from './mount/node-host.ts';

/** A machine on which processes can crash. */
export interface MachineUnderTest {
  /** The test stays below it. Absent: the test has the whole machine. */
  readonly root?: string;
  /** The host of one process. Hooks are awaited before and after each call. */
  host(hooks?: Hooks): HostUnderTest;
}

/** Not every driver runs programs. */
export type HostUnderTest = Mounts & HostFiles & Partial<Programs>;

export interface Hooks {
  readonly before?: Hook;
  readonly after?: Hook;
}

type Hook = (call: Call) => Promise<void> | void;

interface Call {
  readonly name: keyof Mounts | keyof HostFiles | keyof Programs;
  /** The program with its arguments. */
  readonly program?: string;
}

export interface DriverUnderTest {
  /** A new machine, without mounts except its root. */
  readonly machine: () => MachineUnderTest | Promise<MachineUnderTest>;
  /** On a host that has all prerequisites of the volume. */
  readonly make: (host: HostWithPrograms) => Promise<NodeDriver>;
  readonly volume: Partial<NodePublishVolumeRequest['volume']> & Pick<NodePublishVolumeRequest['volume'], 'source'>;
  readonly pod?: NodePublishVolumeRequest['pod'];
  /** The directory of its persistent data. Undefined: the data is not accessible without the driver. */
  readonly data: string | undefined;
  /** The lifetime of the data; `made`: the driver writes all of it. */
  readonly content: 'outlives pods' | 'as old as its pod' | 'made';
  /** A file with its content that the volume has from the start. */
  readonly holds?: readonly [file: string, text: string];
  /** Which side enforces read-only. */
  readonly readOnly: 'driver' | 'container';
  /** Programs that change nothing: a crash after one equals a crash before it. */
  readonly readOnlyPrograms?: RegExp;
  /** Runs before a driver is created. */
  readonly prepare?: (host: NodeHost) => Promise<void>;
}

const usualPod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, spec: { containers: [], securityContext: { fsGroup: 4711 } }, status: {} };
const bytes = (text: string) => new TextEncoder().encode(text);

type Which = 'first' | 'second';

class Bench {
  readonly machine: MachineUnderTest;
  readonly host: HostUnderTest;
  readonly under: DriverUnderTest;
  readonly #root: string;
  readonly #staging: string;

  private constructor(under: DriverUnderTest, machine: MachineUnderTest) {
    this.under = under;
    this.machine = machine;
    this.host = machine.host();
    this.#root = machine.root ?? '';
    this.#staging = `${this.#root}/node/plugins/plugin/handle/globalmount`;
  }

  static async open(under: DriverUnderTest): Promise<Bench> {
    const bench = new Bench(under, await under.machine());
    await bench.host.makeDirectory(bench.#directory('first'), 0o750);
    await bench.host.makeDirectory(bench.#directory('second'), 0o750);
    await bench.host.makeDirectory(directoryOf(bench.#staging), 0o750);
    await under.prepare?.(both(bench.host));
    if (under.data !== undefined) {
      await bench.host.makeDirectory(under.data, 0o755);
      await bench.host.write(`${under.data}/precious`, bytes('precious'), 0o600);
    }
    return bench;
  }

  driver(host = this.host): Promise<NodeDriver> {
    return this.under.make(both(host));
  }

  #directory(which: Which): string {
    return `${this.#root}/node/pods/${which}/volumes/plugin`;
  }

  #request(which: Which, readOnly: boolean): NodePublishVolumeRequest {
    const { volume, pod = usualPod as unknown as NodePublishVolumeRequest['pod'] } = this.under;
    const plain = { name: 'data', persistentVolume: undefined, readOnly, mountOptions: [], mode: 'Filesystem' as const, publishContext: {} };
    const target = `${this.#directory(which)}/data`;
    const { metadata } = pod;
    return {
      volume: { ...plain, ...volume, ...(readOnly ? { readOnly } : {}) },
      pod: { ...pod, metadata: { ...metadata, uid: which } },
      target,
      stagingPath: undefined,
      recordEvent: () => undefined,
    };
  }

  /** Stages, if the driver does, and publishes. */
  async publish(driver: NodeDriver, which: Which = 'first', readOnly = false): Promise<DriverAnswer<NodePublishVolumeResponse>> {
    const request = this.#request(which, readOnly);
    if (!driver.capabilities.stages) return driver.nodePublishVolume(request);
    const { volume } = request;
    const staged = (await driver.nodeStageVolume?.({ volume, stagingPath: this.#staging })) ?? failed('Unimplemented', 'the driver does not stage');
    return staged.ok ? driver.nodePublishVolume({ ...request, stagingPath: this.#staging }) : staged;
  }

  /** Publishes, and returns the path. */
  async publishedPath(driver: NodeDriver, which: Which = 'first', readOnly = false): Promise<string> {
    const answer = await this.publish(driver, which, readOnly);
    if (!answer.ok) throw new Error(answer.message);
    return answer.value.path;
  }

  unpublishFromPod(driver: NodeDriver, which: Which = 'first'): Promise<DriverAnswer<undefined>> {
    return driver.nodeUnpublishVolume({ target: `${this.#directory(which)}/data`, name: 'data', podUid: which });
  }

  /** Unpublishes, and unstages. */
  async unpublish(driver: NodeDriver, which: Which = 'first'): Promise<DriverAnswer<undefined>> {
    const undone = await this.unpublishFromPod(driver, which);
    if (!undone.ok || !driver.capabilities.stages) return undone;
    return (await driver.nodeUnstageVolume?.({ handle: 'data', stagingPath: this.#staging })) ?? failed('Unimplemented', 'the driver does not unstage');
  }

  /** The state of the machine: mounts, and files with owners and modes. */
  async state(): Promise<readonly string[]> {
    const mounts = (await this.#mounted()).map((entry) => `mount ${entry.target} ${entry.device} ${entry.root} ${entry.options.join()}`);
    return [...mounts, ...(await this.#filesIn(this.#root))];
  }

  async #mounted() {
    return (await this.host.table()).filter(({ target }) => target !== '/' && target.startsWith(`${this.#root}/`));
  }

  async #filesIn(path: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (const name of await this.host.list(path === '' ? '/' : path)) {
      const child = `${path}/${name}`;
      const stat = await this.host.stat(child);
      found.push(`${child} ${stat?.type} ${stat?.mode.toString(8)} ${stat?.uid}:${stat?.gid} ${stat?.size}`);
      if (stat?.type === 'directory') found.push(...(await this.#filesIn(child)));
    }
    return found;
  }

  async expectNothingLeft(): Promise<void> {
    expect(await this.host.list(this.#directory('first'))).toEqual([]);
    expect(await this.host.list(this.#directory('second'))).toEqual([]);
    expect(await this.host.stat(this.#staging)).toBeUndefined();
    expect(await this.#mounted()).toEqual([]);
    if (this.under.data !== undefined) expect(await this.host.list(this.under.data)).toContain('precious');
  }

  async isStaged(): Promise<boolean> {
    return (await this.#mounted()).some(({ target }) => target === this.#staging);
  }

  async text(file: string): Promise<string | undefined> {
    return (await this.host.stat(file, 'follow')) === undefined ? undefined : new TextDecoder().decode(await this.host.read(file));
  }
}

function both(host: HostUnderTest): HostWithPrograms {
  const run: Programs['run'] = host.run?.bind(host) ?? (async () => ({ type: 'failed', message: 'this machine has no programs' }));
  return { mounts: host, files: host, programs: { run } };
}

const done = expect.objectContaining({ ok: true });

const readCalls: ReadonlySet<string> = new Set<Call['name']>(['stat', 'list', 'table', 'read', 'readLink']);

/** A host whose process crashes after its n-th change. */
function crashingAfter(
  { machine, under }: Bench,
  crashAt: number,
): { readonly host: HostUnderTest; readonly crashed: Promise<void>; readonly count: () => number } {
  let changes = 0;
  let die = (): void => undefined;
  const crashed = new Promise<void>((resolve) => {
    die = resolve;
  });
  const after: Hook = ({ name, program }) => {
    const isRead = readCalls.has(name) || (program !== undefined && under.readOnlyPrograms?.test(program) === true);
    if (isRead || ++changes < crashAt) return undefined;
    die();
    return new Promise<never>(() => undefined);
  };
  return { host: machine.host({ after }), crashed, count: () => changes };
}

export function describeNodeDriver(name: string, under: DriverUnderTest): void {
  describe(`${name}: node driver conformance`, () => {
    repeats(under);
    crashes(under);
    contents(under);
    pods(under);
  });
}

function repeats(under: DriverUnderTest): void {
  test('publishes, returns the path, and has the capabilities that it reports', async () => {
    const bench = await Bench.open(under);
    const driver = await bench.driver();
    const answer = await bench.publish(driver);
    expect(answer).toEqual(done);
    expect(answer.ok && (await bench.host.stat(answer.value.path, 'follow'))).toBeDefined();
    expect([driver.nodeStageVolume !== undefined, driver.nodeUnstageVolume !== undefined]).toEqual([driver.capabilities.stages, driver.capabilities.stages]);
    if (await bench.isStaged()) expect(driver.capabilities.stages).toBe(true);
  });

  test('publishing again changes nothing', async () => {
    const bench = await Bench.open(under);
    await bench.publish(await bench.driver());
    const before = await bench.state();
    // A new process, without state of the first.
    expect(await bench.publish(await bench.driver())).toEqual(done);
    expect(await bench.state()).toEqual(before);
  });

  test('unpublishing is idempotent', async () => {
    const bench = await Bench.open(under);
    const driver = await bench.driver();
    expect(await bench.unpublish(driver)).toEqual(done);
    await bench.publish(driver);
    expect(await bench.unpublish(driver)).toEqual(done);
    await bench.expectNothingLeft();
    expect(await bench.unpublish(driver)).toEqual(done);
    expect(await bench.publish(driver)).toEqual(done);
  });

  test('returns a failure instead of throwing when a system call fails', async () => {
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
}

function crashes(under: DriverUnderTest): void {
  test('after a crash at any point of publishing, the next process publishes the volume or removes all of it', async () => {
    for (let crashAt = 1; ; crashAt++) {
      const bench = await Bench.open(under);
      const { host, crashed, count } = crashingAfter(bench, crashAt);
      const driver = await bench.driver(host);
      await Promise.race([bench.publish(driver), crashed]);
      const isOver = count() < crashAt;
      const next = await bench.driver();
      if (crashAt % 2 === 0) expect(await bench.publish(next), `after ${crashAt}`).toEqual(done);
      expect(await bench.unpublish(next), `after ${crashAt}`).toEqual(done);
      await bench.expectNothingLeft();
      expect(await bench.publish(next), `after ${crashAt}`).toEqual(done);
      if (isOver) return;
    }
  });

  test('after a crash at any point of unpublishing, the next process completes it', async () => {
    for (let crashAt = 1; ; crashAt++) {
      const bench = await Bench.open(under);
      await bench.publish(await bench.driver());
      const { host, crashed, count } = crashingAfter(bench, crashAt);
      await Promise.race([bench.unpublish(await bench.driver(host)), crashed]);
      expect(await bench.unpublish(await bench.driver()), `after ${crashAt}`).toEqual(done);
      await bench.expectNothingLeft();
      if (count() < crashAt) return;
    }
  });
}

function contents(under: DriverUnderTest): void {
  const { content, data, holds, readOnly } = under;
  test(`the content is there; data of pods: ${content}`, async () => {
    const bench = await Bench.open(under);
    const driver = await bench.driver();
    const path = await bench.publishedPath(driver);
    if (data !== undefined) expect(await bench.text(`${path}/precious`)).toBe('precious');
    if (holds !== undefined) expect(await bench.text(`${path}/${holds[0]}`)).toBe(holds[1]);
    if (under.volume.readOnly === true || content === 'made') return;
    await bench.host.write(`${path}/written`, bytes('hello'), 0o644);
    // Publishing again must not lose data of the running pod.
    expect(await bench.text(`${await bench.publishedPath(await bench.driver())}/written`)).toBe('hello');
    expect(await bench.unpublish(driver)).toEqual(done);
    const again = await bench.publishedPath(driver);
    expect(await bench.text(`${again}/written`)).toBe(content === 'outlives pods' ? 'hello' : undefined);
  });

  test(`read-only is enforced by the ${readOnly}`, async () => {
    const bench = await Bench.open(under);
    const path = await bench.publishedPath(await bench.driver(), 'first', true);
    if (data !== undefined) expect(await bench.host.list(path)).toContain('precious');
    const writing = bench.host.write(`${path}/written`, bytes('hello'), 0o644);
    await (readOnly === 'driver' ? expect(writing).rejects.toMatchObject({ code: 'EROFS' }) : expect(writing).resolves.toBeUndefined());
  });
}

function pods(under: DriverUnderTest): void {
  test('two pods of the node use it independently; the staging mount goes last', async () => {
    const bench = await Bench.open(under);
    const driver = await bench.driver();
    const [first, second] = [await bench.publishedPath(driver, 'first'), await bench.publishedPath(driver, 'second')];
    if (under.content !== 'made' && under.volume.readOnly !== true) {
      await bench.host.write(`${first}/written`, bytes('hello'), 0o644);
      expect(await bench.text(`${second}/written`)).toBe(under.content === 'outlives pods' ? 'hello' : undefined);
    }
    const isStaged = await bench.isStaged();
    const before = await bench.host.list(second);
    expect(await bench.unpublishFromPod(driver, 'first')).toEqual(done);
    expect(await bench.host.list(second)).toEqual(before);
    expect(await bench.isStaged()).toBe(isStaged);
    expect(await bench.unpublish(driver, 'second')).toEqual(done);
    await bench.expectNothingLeft();
  });
}
