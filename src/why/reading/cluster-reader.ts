import type { Stored } from '../../api/stored.ts';
import type { Kind } from '../../api/kind.ts';
import { qualifiedResource } from '../../api/kind.ts';
import type { KubeObject } from '../../api/object.ts';
import { DecodeError, decode } from '../../api/schema/decode.ts';
import type { Client, ListOptions, Ref } from '../../client/client.ts';
import type { Pod } from '../../api/generated/types.ts';
import type { ContainerLog } from '../graph/cluster-objects.ts';
import { containerTrouble } from '../pods/containers.ts';
import { ApiError } from '../../api/status.ts';
import type { StoreProblem, UnreadResource } from '../explanation/explanation.ts';
import { type PathReader, readStoreProblem } from './store-problem.ts';

/** The cluster does not answer, or does not let the target be read. */
export class ClusterError extends Error {
  override readonly name: string = 'ClusterError';
}

/** Objects cannot be read because of the server's store. */
export class StoreUnavailable extends ClusterError {
  override readonly name = 'StoreUnavailable';
  readonly problem: StoreProblem;

  constructor(problem: StoreProblem) {
    super(`the API server waits for its store: ${problem.reason ?? `its check "${problem.check}" fails`}`);
    this.problem = problem;
  }
}

/** No answer came. */
export class ClusterUnreachable extends ClusterError {
  override readonly name = 'ClusterUnreachable';
}

/** Reads logs of containers: they are text, which a client of objects does not read. */
export interface LogReader {
  /** Undefined: it cannot be read. Never rejects. */
  tail(log: LogRequest): Promise<string | undefined>;
}

export interface LogRequest {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  /** The log of the run before the current one. */
  readonly previous: boolean;
  readonly lines: number;
}

/**
 * Reads a cluster as far as the user's rights go. What is forbidden or cannot be decoded is left out and listed in `unseen`; only a cluster
 * that does not answer is an error.
 */
export class ClusterReader {
  readonly #client: Client;
  readonly #logs: LogReader | undefined;
  readonly #paths: PathReader | undefined;
  readonly #unseen: UnreadResource[] = [];

  constructor(client: Client, { logs, paths }: { readonly logs?: LogReader | undefined; readonly paths?: PathReader | undefined } = {}) {
    this.#client = client;
    this.#logs = logs;
    this.#paths = paths;
  }

  get unseen(): readonly UnreadResource[] {
    return this.#unseen;
  }

  /** Undefined: the user may not list them. @throws ClusterError */
  async list<T extends KubeObject>(kind: Kind<T>, selection: Pick<ListOptions, 'namespace' | 'fieldSelector'> = {}): Promise<readonly Stored<T>[] | undefined> {
    const items: Stored<T>[] = [];
    let page: ListOptions = { ...selection, limit: pageSize };
    for (;;) {
      const result = await this.#client.list(kind, page);
      if (result.ok) {
        items.push(...result.value.items);
        const next = result.value.metadata.continue ?? '';
        if (next === '') return items.flatMap((item) => this.#decoded(kind, item) ?? []);
        page = { ...page, continue: next };
        continue;
      }
      if (result.reason === 'expired' && page.limit !== undefined) {
        // The continue token expired: lists all at once.
        items.length = 0;
        page = selection;
        continue;
      }
      return this.#unreadable(kind, result, selection.namespace);
    }
  }

  /** The same; a refusal is not listed in `unseen`. @throws ClusterError */
  async tryList<T extends KubeObject>(kind: Kind<T>): Promise<readonly Stored<T>[]> {
    const result = await this.#client.list(kind);
    if (!result.ok && result.reason === 'unreachable') throw new ClusterUnreachable(`the cluster does not answer: ${result.error.message}`);
    return result.ok ? result.value.items : [];
  }

  /** The last lines of containers that crash, of a few pods. A log that cannot be read is left out. */
  async logsOf(pods: readonly Stored<Pod>[], now: number): Promise<readonly ContainerLog[]> {
    const logs: ContainerLog[] = [];
    for (const pod of pods) {
      if (logs.length >= mostLogs) break;
      const trouble = containerTrouble(pod, now);
      if (trouble?.type !== 'crash') continue;
      const { namespace = '', name, uid } = pod.metadata;
      const container = trouble.status.name;
      const text = await this.#logs?.tail({ namespace, name, container, previous: trouble.status.state.terminated === undefined, lines: logLines });
      const lines = text?.trimEnd().split('\n') ?? [];
      if (text !== undefined && text.trim() !== '') logs.push({ podUid: uid, container, lines: lines.slice(-logLines) });
    }
    return logs;
  }

  /** 'absent': there is none. Undefined: the user may not read it. @throws ClusterError */
  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Stored<T> | 'absent' | undefined> {
    const result = await this.#client.get(kind, ref);
    if (result.ok) return this.#decoded(kind, result.value);
    return result.reason === 'notFound' ? 'absent' : this.#unreadable(kind, result, ref.namespace);
  }

  /** The objects of these names that exist. Undefined: the user may not read one of them. @throws ClusterError */
  async getEach<T extends KubeObject>(kind: Kind<T>, names: Iterable<string>): Promise<readonly Stored<T>[] | undefined> {
    const found: Stored<T>[] = [];
    for (const name of new Set(names)) {
      const object = await this.get(kind, { name });
      if (object === undefined) return undefined;
      if (object !== 'absent') found.push(object);
    }
    return found;
  }

  /** At most one object; a refusal is not listed in `unseen`. @throws ClusterError */
  async tryGet<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<readonly Stored<T>[]> {
    const result = await this.#client.get(kind, ref);
    if (!result.ok && result.reason === 'unreachable') throw new ClusterUnreachable(`the cluster does not answer: ${result.error.message}`);
    return result.ok ? [result.value] : [];
  }

  /** Decoded by this program's schema: the server may be of another version. */
  #decoded<T extends KubeObject>(kind: Kind<T>, item: Stored<T>): Stored<T> | undefined {
    try {
      return decode<Stored<T>>(kind.type, item).object;
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      this.#unseen.push({ what: `${kind.singular} ${item.metadata.name}`, because: `it cannot be decoded: ${error.message}` });
      return undefined;
    }
  }

  async #unreadable(
    kind: Kind<never>,
    { reason, error }: { readonly reason: string; readonly error: Error },
    namespace: string | undefined,
  ): Promise<undefined> {
    // The other lists would wait as long, one after the other.
    const isOfServer = reason === 'unreachable' || (error instanceof ApiError && error.code >= 500);
    const problem = isOfServer && this.#paths !== undefined ? await readStoreProblem(this.#paths) : undefined;
    if (problem !== undefined) throw new StoreUnavailable(problem);
    if (reason === 'unreachable') throw new ClusterUnreachable(`the cluster does not answer: ${error.message}`);
    if (reason === 'unauthorized') throw new ClusterError(`the cluster does not accept these credentials: ${error.message}`);
    const what = `${qualifiedResource(kind)}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
    if (!this.#unseen.some((each) => each.what === what)) this.#unseen.push({ what, because: error.message });
    return undefined;
  }
}

const pageSize = 500;
const mostLogs = 5;
const logLines = 5;
