import type { Duplex, Readable, Writable } from 'node:stream';
import type { Pod } from '../api/generated/types.ts';

/**
 * The streams of a node's pods, after authorization. `container` is one of the pod's.
 * @throws NodeUnreachable if the node's kubelet does not answer, ApiError if it has no known address
 */
export interface PodStreams {
  /** A container's log. With `follow` it ends with the container. */
  logs(pod: Pod, container: string, options: LogOptions): Promise<StreamResult<Readable>>;
  exec(pod: Pod, container: string, options: ExecOptions): Promise<StreamResult<Session>>;
  attach(pod: Pod, container: string, options: AttachOptions): Promise<StreamResult<Session>>;
  portForward(pod: Pod): Promise<StreamResult<PortForwarder>>;
  /** The kubelet's other paths. */
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

export interface NodeProxyResponse {
  readonly code: number;
  readonly contentType: string;
  readonly body: Readable;
}

export type StreamResult<T> = { readonly ok: true; readonly value: T } | StreamRefusal;

export interface StreamRefusal {
  readonly ok: false;
  readonly code: number;
  readonly message: string;
}

/** A kubelet did not answer. The message is Go's: 'dial tcp 10.0.0.7:10250: connect: connection refused'. */
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
  /** The connection may still fail: then it ends with a `PortRefused`. */
  connect(port: number): Promise<StreamResult<Duplex>>;
  /** No more connections will be opened; open ones go on until they are closed. */
  close(): void;
}

/** Why a connection failed, as the client reads it. */
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

/** A program's streams; undefined: not requested, or merged by a terminal. */
export interface Session {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  resize(size: { readonly width: number; readonly height: number }): void;
  /** The exit code, or why it is unknown. */
  readonly done: Promise<number | SessionFailure>;
  close(): void;
}

export interface SessionFailure {
  readonly message: string;
}
