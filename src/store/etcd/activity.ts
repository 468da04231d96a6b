import { type Code, rpcErrorOf } from '../../grpc/status.ts';
import type { Clock } from '../../world/world.ts';

export type EtcdOperation = 'range' | 'txn' | 'compact' | 'status';

/** What a store does with etcd, for metrics. */
export type EtcdEvent =
  /** A call to one member has ended. */
  | { readonly type: 'call'; readonly operation: EtcdOperation; readonly code: Code; readonly seconds: number }
  /** A read or a write has waited for the mirror. */
  | { readonly type: 'wait'; readonly of: 'read' | 'write'; readonly seconds: number }
  /** A read went to etcd itself: the mirror was behind, or may lack events. */
  | { readonly type: 'direct-read' }
  /** A transaction was sent, and no answer came. */
  | { readonly type: 'undecided' }
  /** The watch has begun, or was interrupted and has begun again. */
  | { readonly type: 'watch' }
  /** All objects were read again, since events are lost. */
  | { readonly type: 'reload' }
  /** This server, or another one, has compacted etcd to this revision of etcd. */
  | { readonly type: 'compaction'; readonly revision: number; readonly isOwn: boolean };

/** So long without any answer, and etcd counts as silent. */
const SILENT_MS = 3_000;

/** The requests of a store under way, what they came to, and whether etcd answers now. */
export class EtcdActivity {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When each request under way began, the oldest first. */
  readonly #running = new Map<symbol, number>();
  #answeredAt = Number.NEGATIVE_INFINITY;
  #failure: string | undefined;
  #listener: ((event: EtcdEvent) => void) | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** One listener: the server's metrics. */
  observe(listener: (event: EtcdEvent) => void): void {
    this.#listener = listener;
  }

  tell(event: EtcdEvent): void {
    this.#listener?.(event);
  }

  /** A call to one member. */
  async call<T>(operation: EtcdOperation, answer: Promise<T>): Promise<T> {
    const began = this.#clock.monotonic();
    const tell = (code: Code): void => this.tell({ type: 'call', operation, code, seconds: this.#secondsSince(began) });
    try {
      const answered = await answer;
      tell('OK');
      return answered;
    } catch (error) {
      tell(rpcErrorOf(error).code);
      throw error;
    }
  }

  /** `reached`: the mirror has come to a revision. */
  async wait(of: 'read' | 'write', reached: Promise<boolean>): Promise<boolean> {
    const began = this.#clock.monotonic();
    const isReached = await reached;
    this.tell({ type: 'wait', of, seconds: this.#secondsSince(began) });
    return isReached;
  }

  /** A request, whichever member gets it. `failureOf`: why etcd does not answer; undefined: the error is an answer. */
  async request<T>(ask: () => Promise<T>, failureOf: (error: unknown) => string | undefined): Promise<T> {
    const id = Symbol('request');
    this.#running.set(id, this.#clock.monotonic());
    try {
      const answer = await ask();
      this.#answered();
      return answer;
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined) this.#answered();
      else this.#failure = failure;
      throw error;
    } finally {
      this.#running.delete(id);
    }
  }

  /** Why etcd does not answer now; undefined: it did when it was last asked. */
  problem(): string | undefined {
    const [oldest] = this.#running.values();
    const silentMs = oldest === undefined ? 0 : this.#clock.monotonic() - Math.max(oldest, this.#answeredAt);
    if (silentMs >= SILENT_MS) return this.#failure ?? `etcd has not answered for ${Math.floor(silentMs / 1000)} s`;
    return this.#failure;
  }

  #secondsSince(began: number): number {
    return (this.#clock.monotonic() - began) / 1000;
  }

  #answered(): void {
    this.#answeredAt = this.#clock.monotonic();
    this.#failure = undefined;
  }
}
