import type { Pod } from '../../api/generated/types.ts';
import type { HostFiles } from '../../world/mounts.ts';
import type { Clock } from '../../world/world.ts';
import type { NodeStats } from './node-stats.ts';
import type { Runtime } from '../runtime.ts';
import { type Summary, summaryOf } from './summary.ts';
import { volumeMetrics } from './volume-metrics.ts';

export interface KubeletPagesOptions {
  readonly nodeName: string;
  readonly pods: () => readonly Pod[];
  readonly stats: NodeStats;
  readonly runtime: Pick<Runtime, 'pod'>;
  readonly files: Pick<HostFiles, 'usage'>;
  /** The node's directory. */
  readonly root: string;
  readonly clock: Clock;
}

export interface KubeletPage {
  readonly contentType: string;
  readonly body: string;
}

/** The pages of the kubelet API. They are computed for each request. */
export class KubeletPages {
  readonly #options: KubeletPagesOptions;
  readonly #startedAt: number;

  constructor(options: KubeletPagesOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
  }

  /** Undefined: there is no such page. */
  async page(path: string, query: URLSearchParams): Promise<KubeletPage | undefined> {
    switch (path) {
      case '/healthz':
        return { contentType: 'text/plain; charset=utf-8', body: 'ok' };
      case '/metrics':
        return { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: volumeMetrics(await this.#options.stats.volumes()) };
      case '/stats/summary':
        return { contentType: 'application/json', body: JSON.stringify(await this.#summary(query.get('only_cpu_and_memory') === 'true'), undefined, 1) };
      case '/pods':
      case '/pods/':
        return { contentType: 'application/json', body: podList(this.#options.pods()) };
      default:
        return undefined;
    }
  }

  /** `brief`: without disks. */
  async #summary(brief: boolean): Promise<Summary> {
    const { nodeName, files, root, clock, pods, stats, runtime } = this.#options;
    return summaryOf({
      nodeName,
      startedAt: this.#startedAt,
      disk: brief ? undefined : await files.usage(root).catch(() => undefined),
      volumes: brief ? [] : await stats.volumes(),
      pods: pods(),
      running: (uid) => (runtime.pod(uid)?.runs ?? []).flatMap(({ name, state }) => (state.type === 'running' ? [{ name, startedAt: state.startedAt }] : [])),
      now: clock.now(),
    });
  }
}

/** As the API server lists them. */
const podList = (pods: readonly Pod[]): string =>
  `${JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: pods.map(({ metadata, spec, status }) => ({ metadata, spec, status })) })}\n`;
