import type { Channel } from '../../grpc/channel.ts';
import type { Cancel, Log, World } from '../../world/world.ts';
import type { VolumeDriver } from '../contract.ts';
import type { DriverSet } from '../driver-set.ts';
import { csiVolumeDriver } from './controller.ts';
import { CsiConnection, type CsiConnectionOptions } from './controller-connection.ts';
import { type CsiIdentity, identify } from './controller-identity.ts';

export interface CsiEndpointsOptions extends Pick<CsiConnectionOptions, 'readSecret'> {
  readonly world: World;
  readonly drivers: DriverSet;
  /** `address`: 'unix:///run/csi.sock'. `onLost`: called when a connection ends, also between calls. */
  readonly dial: (address: string, onLost: () => void) => Channel;
}

export interface CsiEndpoint {
  readonly address: string;
  /** The only driver that may answer; undefined: any. */
  readonly driver?: string;
  /** For each call that changes something; absent: the sidecars' defaults. */
  readonly timeoutMs?: number;
  /** Called with each new reason why the driver cannot be used. */
  readonly onProblem?: (message: string) => void;
}

/** The sockets of CSI drivers for which this process acts as their controllers. Each driver is in the set once it answers. */
export class CsiEndpoints {
  readonly #options: CsiEndpointsOptions;
  readonly #open = new Set<OpenEndpoint>();

  constructor(options: CsiEndpointsOptions) {
    this.#options = options;
  }

  /** The socket need not exist yet. The driver leaves the set when the endpoint is closed. */
  open(endpoint: CsiEndpoint): Cancel {
    const opened = new OpenEndpoint(endpoint, this.#options);
    this.#open.add(opened);
    opened.connect();
    return () => {
      this.#open.delete(opened);
      opened.close();
    };
  }

  /** Resolves when each endpoint has answered, or the time has passed: with the addresses of those that have not, and why. */
  async settled(timeoutMs: number): Promise<ReadonlyMap<string, string>> {
    const { timers } = this.#options.world;
    let cancel: Cancel = () => undefined;
    const timeout = new Promise<void>((resolve) => (cancel = timers.after(timeoutMs, resolve)));
    await Promise.race([Promise.all([...this.#open].map(({ answered }) => answered)), timeout]);
    cancel();
    return new Map([...this.#open].flatMap(({ unanswered }) => (unanswered === undefined ? [] : [unanswered])));
  }

  close(): void {
    for (const opened of this.#open) opened.close();
    this.#open.clear();
  }
}

const firstDelayMs = 100;
const longestDelayMs = 5000;
/** Calls to a driver that came back do not wait for their backoff. One that dies by each call must not be called without any pause. */
const returnsEveryMs = 10_000;
/** After a connection is lost: time for a driver that restarts. */
const lostDelayMs = 500;

class OpenEndpoint {
  readonly #endpoint: CsiEndpoint;
  readonly #options: CsiEndpointsOptions;
  readonly #log: Log;
  readonly #channel: Channel;
  readonly #connection: CsiConnection;
  /** Resolves when the driver is in the set for the first time. */
  readonly answered: Promise<void>;
  #onAnswer: () => void = () => undefined;
  #known: KnownDriver | undefined;
  #problem = '';
  #failures = 0;
  #isAsking = false;
  #isClosed = false;
  /** The connection ended since the driver last said who it is. */
  #isLost = false;
  #answeredAt = -Infinity;
  #cancelTimer: Cancel = () => undefined;
  #cancelReturn: Cancel = () => undefined;

  constructor(endpoint: CsiEndpoint, options: CsiEndpointsOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#log = options.world.log.with({ endpoint: endpoint.address });
    this.answered = new Promise((resolve) => (this.#onAnswer = resolve));
    this.#channel = options.dial(endpoint.address, () => this.#reconnect());
    this.#connection = new CsiConnection({
      channel: this.#channel,
      log: this.#log,
      readSecret: options.readSecret,
      onUnavailable: () => this.connect(),
      ...(endpoint.timeoutMs === undefined ? {} : { timeoutMs: endpoint.timeoutMs }),
    });
  }

  /** Asks the driver who it is until it answers: at the start, and after each loss of the connection. */
  connect(): void {
    if (this.#isAsking || this.#isClosed) return;
    this.#isAsking = true;
    this.#cancelTimer();
    void this.#ask();
  }

  /** A driver that restarts may be another version. One that ends each connection after a call is not asked without any pause. */
  #reconnect(): void {
    if (this.#isAsking || this.#isClosed) return;
    this.#isLost = true;
    const { clock, timers } = this.#options.world;
    this.#cancelTimer();
    this.#cancelTimer = timers.after(clock.now() - this.#answeredAt < returnsEveryMs ? returnsEveryMs : lostDelayMs, () => this.connect());
  }

  /** Its address, and why it cannot be used. */
  get unanswered(): readonly [string, string] | undefined {
    if (this.#known !== undefined) return undefined;
    return [this.#endpoint.address, this.#problem === '' ? 'it does not answer' : this.#problem];
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
    this.#cancelReturn();
    if (this.#known !== undefined) this.#options.drivers.remove(this.#known.driver);
    this.#channel.close();
  }

  async #ask(): Promise<void> {
    const identity = await identify(this.#connection);
    if (this.#isClosed) return;
    const problem = identity.ok ? this.#take(identity.value) : identity.message;
    if (problem === undefined) {
      this.#isAsking = false;
      this.#failures = 0;
      this.#isLost = false;
      this.#answeredAt = this.#options.world.clock.now();
      this.#problem = '';
      this.#onAnswer();
      return;
    }
    if (problem !== this.#problem) {
      this.#problem = problem;
      this.#log.warn('the CSI driver cannot be used yet', { error: problem });
      this.#endpoint.onProblem?.(problem);
    }
    const delayMs = Math.min(firstDelayMs * 2 ** Math.min(this.#failures++, 10), longestDelayMs);
    this.#cancelTimer = this.#options.world.timers.after(delayMs, () => void this.#ask());
  }

  /** Returns why the driver cannot be used. */
  #take(identity: CsiIdentity): string | undefined {
    const { drivers } = this.#options;
    const expected = this.#endpoint.driver;
    if (expected !== undefined && identity.name !== expected) return `the driver's name is ${identity.name}, not ${expected}`;
    const known = this.#known;
    if (known !== undefined && isSame(known.identity, identity)) {
      // Without a failure it was always there: its own answer was Unavailable.
      if (this.#failures > 0 || this.#isLost) this.#comeBack(known);
      return undefined;
    }
    const now = this.#options.world.clock.now();
    const driver = csiVolumeDriver(this.#connection, identity, now);
    if (known?.identity.name === identity.name) {
      drivers.replace(known.driver, driver);
    } else {
      if (known !== undefined) drivers.remove(known.driver);
      this.#known = undefined;
      if (!drivers.add(driver)) return `there is another driver ${identity.name} in this process`;
    }
    this.#known = { driver, identity, since: now };
    this.#log.info('the controllers act for a CSI driver', { driver: identity.name, version: identity.version });
    return undefined;
  }

  /** What failed meanwhile is tried again at once. */
  #comeBack(known: KnownDriver): void {
    const { drivers, world } = this.#options;
    this.#cancelReturn();
    const waitMs = Math.min(known.since + returnsEveryMs - world.clock.now(), returnsEveryMs);
    if (waitMs > 0) {
      this.#cancelReturn = world.timers.after(waitMs, () => {
        if (this.#known === known && !this.#isAsking) this.#comeBack(known);
      });
      return;
    }
    const since = world.clock.now();
    const driver = csiVolumeDriver(this.#connection, known.identity, since);
    this.#known = { ...known, driver, since };
    this.#log.info('a CSI driver came back', { driver: known.identity.name });
    drivers.replace(known.driver, driver);
  }
}

interface KnownDriver {
  readonly driver: VolumeDriver;
  readonly identity: CsiIdentity;
  /** When it came, or came back. */
  readonly since: number;
}

const isSame = (a: CsiIdentity, b: CsiIdentity): boolean =>
  a.name === b.name &&
  a.version === b.version &&
  a.expandsOnNode === b.expandsOnNode &&
  sameSet(a.services, b.services) &&
  sameSet(a.controller, b.controller) &&
  sameSet(a.group, b.group);

const sameSet = <T>(a: ReadonlySet<T>, b: ReadonlySet<T>): boolean => a.size === b.size && [...a].every((each) => b.has(each));
