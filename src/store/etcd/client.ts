import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Channel } from '../../grpc/channel.ts';
import { type Client, createClient } from '../../grpc/client.ts';
import {
  KV,
  Maintenance,
  type RangeRequestSchema,
  type RangeResponse,
  type ResponseHeader,
  type StatusResponse,
  type TxnRequestSchema,
  type TxnResponse,
  Watch,
  type WatchRequestSchema,
  type WatchResponse,
} from '../../grpc/generated/etcd.ts';
import { RpcError, rpcErrorOf } from '../../grpc/status.ts';
import { StoreError } from '../contract.ts';
import type { EtcdActivity, EtcdOperation } from './activity.ts';
import { readFailure } from './errors.ts';

export interface EtcdEndpoint {
  /** For messages: 'https://10.0.0.1:2379'. */
  readonly url: string;
  readonly channel: Channel;
}

interface Member {
  readonly url: string;
  readonly kv: Client<typeof KV>;
  readonly watch: Client<typeof Watch>;
  readonly maintenance: Client<typeof Maintenance>;
}

/** The member that a watch is connected to. */
export interface WatchedMember {
  readonly url: string;
  status(): Promise<StatusResponse>;
  watch(requests: AsyncIterable<MessageInitShape<typeof WatchRequestSchema>>, signal: AbortSignal): AsyncIterable<WatchResponse>;
}

/**
 * An etcd cluster: its members take turns if one does not answer. A call that changes nothing goes to the next member; a transaction does so
 * only if no member got it. All failures are `RpcError`s, or a `StoreError` if the members are not of one cluster.
 */
export class EtcdClient {
  readonly #endpoints: readonly EtcdEndpoint[];
  readonly #members: readonly Member[];
  readonly #timeoutMs: number;
  #current = 0;
  #watched = 0;
  readonly #activity: EtcdActivity | undefined;
  #clusterId: bigint | undefined;
  #newestRevision = 0n;

  /** `timeoutMs`: of one call to one member. */
  constructor(endpoints: readonly EtcdEndpoint[], timeoutMs: number, activity?: EtcdActivity) {
    this.#activity = activity;
    this.#endpoints = endpoints;
    this.#timeoutMs = timeoutMs;
    this.#members = endpoints.map(({ url, channel }) => ({
      url,
      kv: createClient(KV, channel),
      watch: createClient(Watch, channel),
      maintenance: createClient(Maintenance, channel),
    }));
  }

  range(request: MessageInitShape<typeof RangeRequestSchema>): Promise<RangeResponse> {
    return this.#ask('range', ({ kv }, options) => kv.range(request, options));
  }

  /** Of etcd, in any answer so far. */
  get newestRevision(): bigint {
    return this.#newestRevision;
  }

  /** The next calls go to another member. */
  turn(): void {
    this.#current++;
  }

  async txn(request: MessageInitShape<typeof TxnRequestSchema>): Promise<TxnResponse> {
    return this.#ask(
      'txn',
      ({ kv }, options) => kv.txn(request, options),
      ({ isUnsent }) => isUnsent,
    );
  }

  /** All keys of the range. For a store that no server uses. */
  async deleteRange(range: { readonly key: Uint8Array; readonly rangeEnd: Uint8Array }): Promise<void> {
    await this.txn({ success: [{ request: { case: 'requestDeleteRange', value: range } }] });
  }

  /** What each member says of itself, or why it does not. */
  statuses(): Promise<readonly { readonly url: string; readonly status: StatusResponse | RpcError }[]> {
    return Promise.all(
      this.#members.map(async ({ url, maintenance }) => ({
        url,
        status: await maintenance.status({}, { timeoutMs: this.#timeoutMs }).catch((error: unknown) => rpcErrorOf(error)),
      })),
    );
  }

  async compact(revision: number): Promise<void> {
    await this.#ask('compact', ({ kv }, options) => kv.compact({ revision: BigInt(revision) }, options));
  }

  status(): Promise<StatusResponse> {
    return this.#ask('status', ({ maintenance }, options) => maintenance.status({}, options));
  }

  /** Another one with each call. */
  nextWatched(): WatchedMember {
    const member = this.#at(this.#watched++);
    return {
      url: member.url,
      status: () => member.maintenance.status({}, { timeoutMs: this.#timeoutMs }).then((answer) => this.#checked(member, answer)),
      // A member without a leader ends the watch, instead of staying silent.
      watch: (requests, signal) => member.watch.watch(requests, { metadata: { hasleader: 'true' }, signal }),
    };
  }

  close(): void {
    for (const { channel } of this.#endpoints) channel.close();
  }

  #ask<T extends Answer>(operation: EtcdOperation, call: MemberCall<T>, mayRepeat: (failure: RpcError) => boolean = isOfMember): Promise<T> {
    const ask = (): Promise<T> => this.#askMembers(operation, call, mayRepeat);
    return this.#activity === undefined ? ask() : this.#activity.request(ask, silenceOf);
  }

  /** Each member once, at least two attempts. */
  async #askMembers<T extends Answer>(operation: EtcdOperation, call: MemberCall<T>, mayRepeat: (failure: RpcError) => boolean): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const current = this.#current;
      const member = this.#at(current);
      try {
        const answer = call(member, { timeoutMs: this.#timeoutMs });
        return this.#checked(member, await (this.#activity?.call(operation, answer) ?? answer));
      } catch (error) {
        if (error instanceof StoreError) throw error;
        const failure = rpcErrorOf(error);
        if (isOfMember(failure) && this.#current === current) this.#current++;
        if (!mayRepeat(failure) || attempt >= Math.max(this.#members.length, 2)) throw failure;
      }
    }
  }

  #at(turn: number): Member {
    const member = this.#members[turn % this.#members.length];
    if (member === undefined) throw new RpcError('Unavailable', 'etcd has no endpoints', { isUnsent: true });
    return member;
  }

  /** @throws StoreError `foreign` */
  #checked<T extends Answer>(member: Member, answer: T): T {
    const { clusterId, revision = 0n } = answer.header ?? {};
    if (clusterId === undefined) return answer;
    this.#clusterId ??= clusterId;
    if (clusterId === this.#clusterId) {
      if (revision > this.#newestRevision) this.#newestRevision = revision;
      return answer;
    }
    throw new StoreError(
      'foreign',
      `${member.url} belongs to another etcd cluster (${clusterId.toString(16)}) than the other servers (${this.#clusterId.toString(16)})`,
    );
  }
}

interface Answer {
  header?: ResponseHeader | undefined;
}

type MemberCall<T> = (member: Member, options: { readonly timeoutMs: number }) => Promise<T>;

/** Another member may answer better. */
const isOfMember = ({ code }: RpcError): boolean => code === 'Unavailable' || code === 'DeadlineExceeded' || code === 'Internal' || code === 'Unknown';

/** Why no member answers; undefined: the error is an answer. */
const silenceOf = (error: unknown): string | undefined => (isOfMember(rpcErrorOf(error)) ? readFailure(error).message : undefined);
