import type { MessageInitShape } from '@bufbuild/protobuf';
import type { WatchRequestSchema, WatchResponse } from '../../grpc/generated/etcd.ts';
import type { World } from '../../world/world.ts';
import type { EtcdClient, WatchedMember } from './client.ts';
import { isProgressTrusted } from './etcd-version.ts';
import type { EtcdKeys } from './keys.ts';
import type { Mirror } from './mirror.ts';
import { RequestQueue } from './request-queue.ts';

export interface WatchStreamOptions {
  readonly client: EtcdClient;
  readonly keys: EtcdKeys;
  readonly mirror: Mirror;
  readonly world: Pick<World, 'timers' | 'log'>;
  /** The mirror lacks events that etcd no longer has: reads the whole state. May throw; then it is called again. */
  readonly reload: () => Promise<void>;
  /** A stream has begun, or was interrupted and has begun again. */
  readonly onOpened: () => void;
}

/** Between two requests for the progress, while a reader waits for it. */
const PROGRESS_INTERVAL_MS = 100;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 5_000;

type Requests = RequestQueue<MessageInitShape<typeof WatchRequestSchema>>;

/** The one watch of a mirror, from one member after the other: each stream begins after the last revision of the mirror. */
export class WatchStream {
  readonly #options: WatchStreamOptions;
  #stream: { readonly requests: Requests; readonly abort: AbortController; trusted: boolean } | undefined;
  #failures = 0;
  #asking = false;
  #reloads = false;
  #stopped = false;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#run();
  }

  /** Whether the member's word on the progress can be believed; false also while there is no stream. */
  get isProgressTrusted(): boolean {
    return this.#stream?.trusted === true;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  /** Asks for the progress, again and again while readers wait for the mirror. */
  requestProgress(): void {
    if (this.#asking || this.#stopped) return;
    this.#asking = true;
    this.#stream?.requests.push({ requestUnion: { case: 'progressRequest', value: {} } });
    this.#options.world.timers.after(PROGRESS_INTERVAL_MS, () => {
      this.#asking = false;
      if (this.#options.mirror.isAwaited) this.requestProgress();
    });
  }

  /** Reads the whole state again, then goes on. */
  reload(): void {
    this.#reloads = true;
    this.restart();
  }

  /** Goes on with another member. */
  restart(): void {
    this.#stream?.abort.abort();
  }

  stop(): void {
    this.#stopped = true;
    this.restart();
  }

  async #run(): Promise<void> {
    const { client, world } = this.#options;
    while (!this.#stopped) {
      const member = client.nextWatched();
      try {
        await this.#reloadIfNeeded();
        await this.#follow(member);
      } catch (error) {
        if (this.#stopped) return;
        world.log.warn('the watch of etcd was interrupted', { server: member.url, error });
      }
      this.#stream = undefined;
      if (!this.#stopped) await this.#backOff();
    }
  }

  async #reloadIfNeeded(): Promise<void> {
    if (!this.#reloads) return;
    await this.#options.reload();
    this.#reloads = false;
  }

  #backOff(): Promise<void> {
    const ms = Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures++, MAX_BACKOFF_MS);
    return new Promise((resolve) => void this.#options.world.timers.after(ms, resolve));
  }

  /** Resolves when the stream has ended; its caller opens the next. */
  async #follow(member: WatchedMember): Promise<void> {
    const { keys, mirror } = this.#options;
    const { version } = await member.status();
    if (this.#stopped) return;
    const requests: Requests = new RequestQueue();
    const stream = { requests, abort: new AbortController(), trusted: isProgressTrusted(version) };
    requests.push({
      requestUnion: {
        case: 'createRequest',
        // Versions that lose events (etcd-io/etcd#17529) have to say what each change replaced: of a deletion, nothing else shows a gap. It is as much again to send.
        value: { ...keys.data, startRevision: keys.etcdRevision(mirror.revision() + 1), progressNotify: true, prevKv: !stream.trusted },
      },
    });
    this.#stream = stream;
    try {
      for await (const response of member.watch(requests, stream.abort.signal)) {
        this.#receive(response, stream.trusted);
        if (this.#reloads) return;
      }
    } finally {
      requests.end();
    }
  }

  #receive(response: WatchResponse, trusted: boolean): void {
    const { keys, mirror, world } = this.#options;
    if (response.canceled) {
      if (response.compactRevision === 0n) throw new Error(`etcd ended the watch: ${response.cancelReason || 'it gave no reason'}`);
      this.#reloads = true;
      return;
    }
    this.#failures = 0;
    if (response.created) this.#options.onOpened();
    else if (response.events.length === 0) {
      if (trusted) mirror.progress(keys.revisionOf(response.header?.revision));
    } else if (mirror.apply(response.events, { namesPrevious: !trusted }) === 'damaged') {
      world.log.error('the watch of etcd has left out events: all objects are read again', { after: mirror.revision() });
      this.#reloads = true;
    }
  }
}
