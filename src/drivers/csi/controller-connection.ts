import type { DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Channel, Metadata } from '../../grpc/channel.ts';
import { decodeMessage, encodeMessage, pathOf } from '../../grpc/client.ts';
import { rpcErrorOf } from '../../grpc/status.ts';
import { CallLimit } from '../../world/call-limit.ts';
import type { Log } from '../../world/world.ts';
import { type DriverAnswer, failed, type Leader, type SecretReference, succeeded } from '../contract.ts';
import { rpcFailure } from './rpc-failure.ts';

/** What calls to a CSI driver need. */
export interface CsiConnectionOptions {
  readonly channel: Channel;
  readonly log: Log;
  /** Reads a Secret's data for one call. It is kept nowhere. */
  readonly readSecret: (reference: SecretReference) => Promise<DriverAnswer<Secrets>>;
  /** Called after a call that the driver did not answer. */
  readonly onUnavailable?: () => void;
  /** For each call that changes something; absent: the sidecars' defaults. */
  readonly timeoutMs?: number;
}

export type Secrets = Readonly<Record<string, string>>;

export interface CsiCallOptions {
  readonly leader?: Leader;
  readonly timeoutMs?: number;
}

/** As many calls at once as external-provisioner has workers: the others wait, and their deadlines begin afterwards. */
const maxInFlight = 100;

/** The default of external-provisioner and external-attacher. */
const sidecarTimeoutMs = 15_000;

/** Metadata of every call that changes something: a driver may refuse the calls of a leader that was replaced. */
export const leaderMetadata = ({ lease, epoch }: Leader): Metadata => ({ 'mooring-lease': lease, 'mooring-epoch': String(epoch) });

/** The calls of CSI through a channel. Every call ends, and none rejects. */
export class CsiConnection {
  readonly #options: CsiConnectionOptions;
  readonly #limit = new CallLimit(maxInFlight);
  /** The last call for each volume. */
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(options: CsiConnectionOptions) {
    this.#options = options;
  }

  get log(): Log {
    return this.#options.log;
  }

  async call<Method extends DescMethodUnary>(
    method: Method,
    request: MessageInitShape<Method['input']>,
    { leader, timeoutMs = sidecarTimeoutMs }: CsiCallOptions = {},
  ): Promise<DriverAnswer<MessageShape<Method['output']>>> {
    const { channel, onUnavailable } = this.#options;
    let encoded: Uint8Array;
    try {
      encoded = encodeMessage<Method['input']>(method.input, request, 'the request');
    } catch (error) {
      // Nothing was asked of the driver.
      return failed('InvalidArgument', rpcErrorOf(error).message);
    }
    let bytes: Uint8Array;
    const options = leader === undefined ? { timeoutMs } : { timeoutMs: this.#options.timeoutMs ?? timeoutMs, metadata: leaderMetadata(leader) };
    try {
      bytes = await this.#limit.run(() => channel.unary(pathOf(method), encoded, options));
    } catch (error) {
      const failure = rpcFailure(error);
      if (failure.code === 'Unavailable') onUnavailable?.();
      return failure;
    }
    try {
      return succeeded(decodeMessage<Method['output']>(method.output, bytes, `the answer of ${pathOf(method)}`));
    } catch (error) {
      // The call may have had its effect.
      return { ...failed('Internal', rpcErrorOf(error).message), final: false };
    }
  }

  /**
   * One call at a time for one volume, as CSI asks of the CO: the claim of a volume whose expansion hangs may be deleted, and the reclaimer knows nothing of
   * the expander's call.
   */
  async oneAtATime<T>(volumeId: string, call: () => Promise<DriverAnswer<T>>): Promise<DriverAnswer<T>> {
    const before = this.#underWay.get(volumeId);
    const own = before === undefined ? call() : before.then(call);
    this.#underWay.set(volumeId, own);
    const answer = await own;
    if (this.#underWay.get(volumeId) === own) this.#underWay.delete(volumeId);
    return answer;
  }

  async secrets(reference: SecretReference | undefined): Promise<DriverAnswer<Secrets>> {
    return reference === undefined ? succeeded({}) : this.#options.readSecret(reference);
  }

  /** For deletions, which go on if the Secret was deleted before, as those of the sidecars do. */
  async secretsIfThere(reference: SecretReference | undefined): Promise<Secrets> {
    const secrets = await this.secrets(reference);
    if (secrets.ok) return secrets.value;
    this.log.warn('a call goes without its secrets', { ...reference, error: secrets.message });
    return {};
  }
}
