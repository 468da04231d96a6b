import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { ResponseHeaderSchema, type WatchCreateRequest, type WatchRequest, type WatchResponse, WatchResponseSchema } from '../../grpc/generated/etcd.ts';
import { RequestQueue } from '../../store/etcd/request-queue.ts';
import type { SimulatedWorld } from '../world/world.ts';
import { type EtcdState, eventType, isIn, keyValueOf, type StoredVersion } from './etcd-state.ts';
import type { EtcdBugs } from './etcd-bugs.ts';

export interface WatchSessionOptions {
  readonly requests: AsyncIterable<WatchRequest>;
  readonly signal: AbortSignal;
  readonly state: EtcdState;
  readonly world: SimulatedWorld;
  readonly bugs: () => EtcdBugs;
  readonly header: () => MessageInitShape<typeof ResponseHeaderSchema>;
}

/** At most so long, events lie in the member before they are sent. */
const FLUSH_MS = 20;
/** How many revisions of the past a watch repeats, with the bug. */
const REPEATED = 3;

/** One watch stream of a member, with one watch. */
export class WatchSession {
  readonly responses = new RequestQueue<WatchResponse>();
  readonly #options: WatchSessionOptions;
  #watched: WatchCreateRequest | undefined;
  /** The next revision to be sent. */
  #next = 0;
  #flushing = false;

  constructor(options: WatchSessionOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.responses.end());
    this.#serve().catch(() => this.responses.end());
  }

  /** The state has a new revision. */
  flushSoon(): void {
    if (this.#watched === undefined || this.#flushing) return;
    this.#flushing = true;
    const { world } = this.#options;
    world.timers.after(world.random.float() * FLUSH_MS, () => {
      this.#flushing = false;
      this.#flush();
    });
  }

  async #serve(): Promise<void> {
    for await (const { requestUnion } of this.#options.requests) {
      if (requestUnion.case === 'createRequest') this.#create(requestUnion.value);
      if (requestUnion.case === 'progressRequest') this.#tellProgress();
    }
  }

  #create(request: WatchCreateRequest): void {
    const { state, bugs } = this.#options;
    this.#next = Number(request.startRevision) || state.revision + 1;
    this.#respond({ created: true });
    if (this.#next < state.compacted) {
      this.#respond({ canceled: true, compactRevision: BigInt(state.compacted) });
      return;
    }
    if (bugs().eventsFromThePast === true) this.#next = Math.max(2, Math.min(this.#next, state.revision + 1) - REPEATED);
    this.#watched = request;
    this.flushSoon();
  }

  /** Only a watch that has sent all events tells its progress. */
  #tellProgress(): void {
    const { state, bugs } = this.#options;
    if (this.#watched !== undefined && (this.#next > state.revision || bugs().progressBeforeEvents === true)) this.#respond({ watchId: -1n });
  }

  #flush(): void {
    const watched = this.#watched;
    if (watched === undefined) return;
    const { state } = this.#options;
    const written: StoredVersion[] = [];
    for (; this.#next <= state.revision; this.#next++) written.push(...state.at(this.#next).filter(({ key }) => isIn(key, watched)));
    const events = written
      .filter((version) => !this.#isLost(version))
      .map((version) => {
        const previous = watched.prevKv ? state.before(version) : undefined;
        return { type: eventType(version), kv: keyValueOf(version), ...(previous && { prevKv: keyValueOf(previous) }) };
      });
    if (events.length > 0) this.#respond({ events });
  }

  #isLost(version: StoredVersion): boolean {
    const { bugs, state, world } = this.#options;
    const { noDeletesAtCompaction = false, lostEvents = 0 } = bugs();
    if (noDeletesAtCompaction && version.version === 0 && version.modRevision === state.compacted) return true;
    return lostEvents > 0 && world.random.chance(lostEvents);
  }

  #respond(response: MessageInitShape<typeof WatchResponseSchema>): void {
    const header = create(ResponseHeaderSchema, this.#options.header());
    this.responses.push(Object.assign(create(WatchResponseSchema, response), { header }));
  }
}
