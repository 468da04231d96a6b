import type { Duplex, Readable, Writable } from 'node:stream';
import type { Pod } from '../api/generated/types.ts';

/**
 * What a node offers of its pods to whoever the server lets through. `container` is one of the pod's.
 * @throws NodeUnreachable if the node is elsewhere and does not answer, ApiError if it cannot even be asked
 */
export interface PodStreams {
  /** What a container wrote, as people read it. It ends when there is no more, or with `follow`, when no more can come. */
  logs(pod: Pod, container: string, options: LogOptions): Promise<StreamResult<Readable>>;
  exec(pod: Pod, container: string, options: ExecOptions): Promise<StreamResult<Session>>;
  attach(pod: Pod, container: string, options: AttachOptions): Promise<StreamResult<Session>>;
  portForward(pod: Pod): Promise<StreamResult<PortForwarder>>;
  /** Whatever else a node tells, by the paths of kubelets. */
  proxy(request: NodeProxyRequest): Promise<NodeProxyResponse>;
}

export interface NodeProxyRequest {
  readonly method: string;
  readonly path: string;
  /** As it was sent; empty: none. */
  readonly query: string;
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
}

/** Right or wrong, it is the node's. */
export interface NodeProxyResponse {
  readonly code: number;
  readonly contentType: string;
  readonly body: Readable;
}

/** `code`: of HTTP, by which the node refuses. */
export type StreamResult<T> = { readonly ok: true; readonly value: T } | StreamRefusal;

export interface StreamRefusal {
  readonly ok: false;
  readonly code: number;
  readonly message: string;
}

/** A node that is elsewhere did not answer. The message says why in Go's words: 'dial tcp 10.0.0.7:10250: connect: connection refused'. */
export class NodeUnreachable extends Error {
  readonly url: string;
  constructor(url: string, message: string) {
    super(message);
    this.name = 'NodeUnreachable';
    this.url = url;
  }
}

/** Connections to ports of a pod's loopback. */
export interface PortForwarder {
  /** It may turn out later that it did not come about: then it ends with a `PortRefused`. */
  connect(port: number): Promise<StreamResult<Duplex>>;
  /** Nobody will ask for more; those that are open go on until they are closed. */
  close(): void;
}

/** Why a connection came to nothing, in the words for whoever asked for it. */
export class PortRefused extends Error {}

export interface LogOptions {
  readonly follow: boolean;
  /** Of the run before the current one. */
  readonly previous: boolean;
  /** Milliseconds since 1970; undefined: from the beginning. */
  readonly since: number | undefined;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

export interface AttachOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface ExecOptions extends AttachOptions {
  readonly command: readonly string[];
}

/** A program's streams; absent are those that were not asked for, or that a terminal makes one with another. */
export interface Session {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  resize(size: { readonly width: number; readonly height: number }): void;
  /** Its exit code, or why nobody knows it. */
  readonly done: Promise<number | SessionFailure>;
  /** Hangs up. */
  close(): void;
}

export interface SessionFailure {
  readonly message: string;
}
