/** Logs, exec, attach and port forwarding of a node's pods, from its runtime. */
import { type Duplex, Readable } from 'node:stream';
import type { ContainerStatus, Pod } from '../../api/generated/types.ts';
import type { LogOptions, NodeProxyResponse, NodeProxyRequest, PodStreams, PortForwarder, StreamResult } from '../../streams/contract.ts';
import type { AttachOptions, ContainerRun, ExecOptions, RuntimeFailure, Runtime, Session } from '../runtime.ts';
import { readLog } from './logs.ts';

/** The pages of the kubelet API; undefined: there is no such page. */
interface PageSource {
  page(path: string, query: URLSearchParams): Promise<{ readonly contentType: string; readonly body: string } | undefined>;
}

export class RuntimeStreams implements PodStreams {
  readonly #runtime: Runtime;
  readonly #pages: PageSource;

  constructor(runtime: Runtime, pages: PageSource) {
    this.#runtime = runtime;
    this.#pages = pages;
  }

  async proxy({ method, path, query }: NodeProxyRequest): Promise<NodeProxyResponse> {
    const found = method === 'GET' ? await this.#pages.page(path, new URLSearchParams(query)) : undefined;
    const { contentType, body } = found ?? {
      contentType: 'text/plain; charset=utf-8',
      body: method === 'GET' ? '404 page not found\n' : '405: Method Not Allowed',
    };
    return { code: found !== undefined ? 200 : method === 'GET' ? 404 : 405, contentType, body: Readable.from([Buffer.from(body)]) };
  }

  async logs(pod: Pod, container: string, options: LogOptions): Promise<StreamResult<Readable>> {
    const found = this.#loggedRun(pod, container, options.previous);
    if (typeof found === 'string') return { ok: false, code: 400, message: found };
    const file = (await this.#runtime.logFiles(found.id)).at(-1);
    if (file === undefined) return { ok: false, code: 404, message: `the log of container ${JSON.stringify(container)} is gone` };
    const hasEnded = (): boolean => this.#run(pod, found.id)?.state.type !== 'running';
    const onChange = (listener: () => void) => this.#runtime.observe((uid) => (uid === pod.metadata.uid ? listener() : undefined));
    return { ok: true, value: readLog({ file, hasEnded, onChange }, options) };
  }

  async exec(pod: Pod, container: string, options: ExecOptions): Promise<StreamResult<Session>> {
    const run = this.#latest(pod, container);
    if (run?.state.type !== 'running') return notRunning(container);
    const opened = await this.#runtime.exec(run.id, options);
    return opened.ok ? opened : failed(opened.error);
  }

  async attach(pod: Pod, container: string, options: AttachOptions): Promise<StreamResult<Session>> {
    const run = this.#latest(pod, container);
    if (run?.state.type !== 'running') return notThere(container, pod);
    const opened = await this.#runtime.attach(run.id, options);
    if (!opened.ok) return failed(opened.error);
    // The kubelet does not report the exit code to an attached client: it is in the pod's status.
    return { ok: true, value: { ...opened.value, done: opened.value.done.then(() => 0) } };
  }

  portForward({ metadata: { uid = '' } }: Pod): Promise<StreamResult<PortForwarder>> {
    const connect = async (port: number): Promise<StreamResult<Duplex>> => {
      const opened = await this.#runtime.connect(uid, port);
      return opened.ok ? opened : failed(opened.error);
    };
    return Promise.resolve({ ok: true, value: { connect, close: () => undefined } });
  }

  #latest({ metadata }: Pod, container: string): ContainerRun | undefined {
    return this.#runtime.pod(metadata.uid ?? '')?.runs.findLast(({ name }) => name === container);
  }

  #run({ metadata }: Pod, id: string): ContainerRun | undefined {
    return this.#runtime.pod(metadata.uid ?? '')?.runs.find((run) => run.id === id);
  }

  /** The run whose log is requested, or why there is none, in the kubelet's words. */
  #loggedRun({ metadata, status }: Pod, container: string, previous: boolean): ContainerRun | string {
    const runs = this.#runtime.pod(metadata.uid ?? '')?.runs.filter(({ name }) => name === container) ?? [];
    const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
    const reported = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].find(({ name }) => name === container);
    const [latest, before] = [runs.at(-1), runs.at(-2)];
    // While a container waits for its restart, its latest run is the previous one.
    const isBetween = latest?.state.type === 'exited' && reported?.state.waiting !== undefined;
    const meant = previous ? (isBetween ? latest : before) : latest;
    if (meant !== undefined) return meant;
    const who = `container ${JSON.stringify(container)} in pod ${JSON.stringify(metadata.name ?? '')}`;
    return previous ? `previous terminated ${who} not found` : `${who} is waiting to start${waitingFor(reported)}`;
  }
}

const waitingFor = (reported: ContainerStatus | undefined): string =>
  reported?.state.waiting?.reason === undefined ? ' - no logs yet' : `: ${reported.state.waiting.reason}`;

/** In the kubelet's words. */
const notThere = (container: string, { metadata: { name = '', namespace = '' } }: Pod): StreamResult<never> => ({
  ok: false,
  code: 500,
  message: `container ${container} not found in pod ${name}_${namespace}`,
});

const notRunning = (container: string): StreamResult<never> => ({ ok: false, code: 500, message: `container not found (${JSON.stringify(container)})` });

const failed = ({ reason, message }: RuntimeFailure): StreamResult<never> => ({ ok: false, code: reason === 'not-found' ? 404 : 500, message });
