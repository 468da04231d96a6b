import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ServerCall } from '../../grpc/channel.ts';
import {
  type CompactionRequest,
  KV,
  Maintenance,
  type RangeRequest,
  type RangeResponseSchema,
  type ResponseHeaderSchema,
  type ResponseOpSchema,
  type TxnRequest,
  type TxnResponseSchema,
  Watch,
} from '../../grpc/generated/etcd.ts';
import { handlersOf } from '../../grpc/service.ts';
import { RpcError } from '../../grpc/status.ts';
import { SimulatedGrpcServer } from '../world/grpc-channel.ts';
import type { SimulatedWorld } from '../world/world.ts';
import type { EtcdBugs } from './etcd-bugs.ts';
import { EtcdState, keyValueOf, type OperationResult } from './etcd-state.ts';
import { WatchSession } from './watch-session.ts';

export interface SimulatedEtcdOptions {
  readonly members?: number;
  readonly version?: string;
  readonly bugs?: EtcdBugs;
  /** Different for different clusters. */
  readonly clusterId?: bigint;
}

/** How long a member without a leader takes to say so (etcd: ReqTimeout). */
const REQUEST_TIMEOUT_MS = 7_000;
/** etcd: --max-txn-ops. */
const MAX_OPERATIONS = 128;

/**
 * An etcd cluster that speaks etcd's own bytes, over the simulated network. Its members agree without a vote, on one state; each can crash, and
 * the cluster can lose its quorum, its space and, unlike a real one that is sound, revisions.
 */
export class SimulatedEtcd {
  readonly members: readonly SimulatedGrpcServer[];
  readonly state = new EtcdState();
  readonly #world: SimulatedWorld;
  readonly #options: SimulatedEtcdOptions;
  readonly #sessions = new Set<WatchSession>();
  /** Proposals wait for a leader, whether their clients still do or not. */
  #waiting: (() => void)[] = [];
  bugs: EtcdBugs;
  version: string;
  hasQuorum = true;
  isFull = false;
  /** How many it has answered. */
  ranges = 0;

  constructor(world: SimulatedWorld, options: SimulatedEtcdOptions = {}) {
    this.#world = world;
    this.#options = options;
    this.bugs = options.bugs ?? {};
    this.version = options.version ?? '3.5.30';
    this.members = Array.from({ length: options.members ?? 3 }, (_, i) => this.#createMember(BigInt(i + 1)));
  }

  /** The proposals that waited take effect now. */
  regainQuorum(): void {
    this.hasQuorum = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const proceed of waiting) proceed();
  }

  #createMember(memberId: bigint): SimulatedGrpcServer {
    return new SimulatedGrpcServer(
      handlersOf(KV, {
        range: (request) => this.#range(memberId, request),
        txn: (request) => this.#txn(memberId, request),
        compact: (request) => this.#compact(memberId, request),
      }),
      handlersOf(Watch, { watch: (requests, { signal }: ServerCall) => this.#watch(memberId, { requests, signal }) }),
      handlersOf(Maintenance, {
        status: () => Promise.resolve({ header: this.#header(memberId), version: this.version, errors: this.isFull ? ['memberID:1 alarm:NOSPACE '] : [] }),
      }),
    );
  }

  #header(memberId: bigint, revision = this.state.revision): MessageInitShape<typeof ResponseHeaderSchema> {
    return { clusterId: this.#options.clusterId ?? 1n, memberId, revision: BigInt(revision), raftTerm: 2n };
  }

  async #range(memberId: bigint, request: RangeRequest): Promise<MessageInitShape<typeof RangeResponseSchema>> {
    await this.#untilQuorum();
    this.ranges++;
    const now = this.state.revision - (memberId === 1n ? (this.bugs.staleReads ?? 0) : 0);
    const { versions, count, more } = this.state.range(request, Number(request.revision) || now);
    return { header: this.#header(memberId, now), kvs: versions.map(keyValueOf), count: BigInt(count), more };
  }

  async #txn(memberId: bigint, request: TxnRequest): Promise<MessageInitShape<typeof TxnResponseSchema>> {
    if (this.isFull && request.success.some(({ request: { case: type } }) => type === 'requestPut'))
      throw new RpcError('ResourceExhausted', 'etcdserver: mvcc: database space exceeded');
    return this.#propose(() => {
      const { succeeded, results } = this.state.txn(request, MAX_OPERATIONS);
      for (const session of this.#sessions) session.flushSoon();
      return { header: this.#header(memberId), succeeded, responses: results.map(responseOf) };
    });
  }

  async #compact(memberId: bigint, { revision }: CompactionRequest): Promise<{ header: MessageInitShape<typeof ResponseHeaderSchema> }> {
    return this.#propose(() => {
      this.state.compact(Number(revision));
      return { header: this.#header(memberId) };
    });
  }

  #watch(memberId: bigint, call: Pick<ServerCall, 'signal'> & { readonly requests: ConstructorParameters<typeof WatchSession>[0]['requests'] }) {
    const session = new WatchSession({ ...call, state: this.state, world: this.#world, bugs: () => this.bugs, header: () => this.#header(memberId) });
    this.#sessions.add(session);
    call.signal.addEventListener('abort', () => this.#sessions.delete(session));
    return session.responses;
  }

  async #untilQuorum(): Promise<void> {
    if (!this.hasQuorum) await this.#timeOut(new Promise<void>((resolve) => void this.#waiting.push(resolve)));
  }

  /** Without a leader, the answer is a time-out, and the proposal may take effect later. */
  async #propose<T>(apply: () => T): Promise<T> {
    if (this.hasQuorum) return apply();
    return this.#timeOut(
      new Promise<T>((resolve, reject) => {
        this.#waiting.push(() => {
          try {
            resolve(apply());
          } catch (error) {
            reject(error);
          }
        });
      }),
    );
  }

  async #timeOut<T>(waiting: Promise<T>): Promise<T> {
    waiting.catch(() => undefined);
    const late = this.#world.sleep(REQUEST_TIMEOUT_MS).then(() => Promise.reject(new RpcError('Unavailable', 'etcdserver: request timed out')));
    return Promise.race([waiting, late]);
  }
}

function responseOf(result: OperationResult): MessageInitShape<typeof ResponseOpSchema> {
  switch (result.type) {
    case 'put':
      return { response: { case: 'responsePut', value: {} } };
    case 'delete':
      return { response: { case: 'responseDeleteRange', value: { deleted: BigInt(result.deleted) } } };
    case 'range':
      return { response: { case: 'responseRange', value: { kvs: result.versions.map(keyValueOf) } } };
  }
}
