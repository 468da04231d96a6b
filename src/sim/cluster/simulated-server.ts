import type { Api, ApiRequest, ApiResponse, OpenWatch, WatchSink } from '../../apiserver/api.ts';
import type { Store } from '../../store/contract.ts';
import { openEmbeddedStore } from '../../store/embedded/embedded-store.ts';
import { openMemoryStore, type StoreContent } from '../../store/memory/memory-store.ts';
import type { World } from '../../world/world.ts';
import { SimulatedDisk, type SimulatedDiskOptions } from '../world/disk.ts';
import { SimulatedProcess } from '../world/process.ts';

export interface SimulatedServerOptions {
  readonly world: World;
  /** `memory`: the store survives a crash. `embedded`: the real store, on a simulated disk. */
  readonly store: 'memory' | 'embedded';
  /** What the store `memory` begins with; absent: nothing. */
  readonly content?: StoreContent | undefined;
  /** Faults of that disk. */
  readonly disk?: SimulatedDiskOptions;
  /** Called for every request that arrives; what it returns is called with the response, or undefined if there is none. */
  readonly onRequest?: ((request: ApiRequest) => (response: ApiResponse | undefined) => void) | undefined;
  /** Starts the API of one run on the store. */
  readonly serve: (run: { readonly world: World; readonly store: Store }) => Promise<ServedApi> | ServedApi;
}

export interface ServedApi extends Api {
  stop(): Promise<void>;
}

/**
 * An API server that can crash and restart. Requests fail while it is down and when it crashes under them, and every watch is cut. `api` stays
 * the same across runs.
 */
export class SimulatedServer {
  readonly api: Api = { handle: (request) => this.#handle(request) };
  readonly #options: SimulatedServerOptions;
  readonly #waiting = new Set<(error: unknown) => void>();
  readonly #watches = new Set<() => void>();
  #run: ServerRun | undefined;
  #runs = 0;
  #surviving: SurvivingState;

  constructor(options: SimulatedServerOptions) {
    this.#options = options;
    this.#surviving =
      options.store === 'memory' ? { type: 'memory', store: openMemoryStore(options.content) } : { type: 'embedded', disk: new SimulatedDisk(options.disk) };
  }

  /** The disk of the store, if it has one. */
  get disk(): SimulatedDisk | undefined {
    return this.#surviving.type === 'embedded' ? this.#surviving.disk : undefined;
  }

  /** The store of the current run; undefined: the server is down. */
  get store(): Store | undefined {
    return this.#run?.store;
  }

  get up(): boolean {
    return this.#run !== undefined;
  }

  /** @throws StoreError if the store cannot be opened */
  async start(): Promise<void> {
    const process = new SimulatedProcess(this.#options.world, `server ${++this.#runs}`);
    const surviving = this.#surviving;
    const store = surviving.type === 'memory' ? surviving.store : await openEmbeddedStore({ directory: '/data', disk: surviving.disk, world: process });
    const api = await this.#options.serve({ world: process, store });
    this.#run = { process, store, api };
  }

  /** `power`: a power failure, which also loses what was not synced. */
  crash(how: 'killed' | 'power' = 'killed'): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    run.process.kill();
    // Background watches of the store belong to the dead process.
    void run.api.stop();
    if (this.#surviving.type === 'embedded') {
      const { disk } = this.#surviving;
      this.#surviving = {
        type: 'embedded',
        disk: how === 'power' ? disk.crash(this.#options.world.random, this.#options.disk) : disk.kill(this.#options.disk),
      };
    }
    const watches = [...this.#watches];
    this.#watches.clear();
    for (const refuse of this.#waiting) refuse(new Error('the server died'));
    for (const cut of watches) cut();
  }

  #handle(request: ApiRequest): Promise<ApiResponse> {
    const run = this.#run;
    if (run === undefined) return Promise.reject(new Error('the server is down'));
    const answered = this.#options.onRequest?.(request);
    return new Promise((resolve, reject) => {
      const refuse = (error: unknown) => {
        if (!this.#waiting.delete(refuse)) return;
        answered?.(undefined);
        reject(error);
      };
      this.#waiting.add(refuse);
      run.api.handle(request).then((response) => {
        // The server crashed meanwhile, and the client has its error already.
        if (!this.#waiting.delete(refuse)) return;
        answered?.(response);
        resolve(response.type === 'watch' ? { ...response, start: (sink) => this.#watch(run, response.start, sink) } : response);
      }, refuse);
    });
  }

  #watch(run: ServerRun, start: (sink: WatchSink) => OpenWatch, sink: WatchSink): OpenWatch {
    if (this.#run !== run) {
      sink.end(undefined);
      return { stop: () => undefined };
    }
    // The first events may come before `start` returns.
    const opened: { watch?: OpenWatch } = {};
    const cut = () => {
      opened.watch?.stop();
      sink.end(undefined);
    };
    this.#watches.add(cut);
    opened.watch = start({
      ...sink,
      events: (batch) => sink.events(batch),
      end: (status) => {
        if (this.#watches.delete(cut)) sink.end(status);
      },
    });
    return {
      stop: () => {
        this.#watches.delete(cut);
        opened.watch?.stop();
      },
    };
  }
}

interface ServerRun {
  readonly process: SimulatedProcess;
  readonly store: Store;
  readonly api: ServedApi;
}

/** What survives a crash of the server. */
type SurvivingState = { readonly type: 'memory'; readonly store: Store } | { readonly type: 'embedded'; readonly disk: SimulatedDisk };
