import type { Duplex, Readable, Writable } from 'node:stream';
import type { Pod } from '../api/generated/types.ts';

/** What a node offers of its pods to whoever the server lets through. `container` is one of the pod's. */
export interface PodStreams {
  /** What a container wrote, as people read it. It ends when there is no more, or with `follow`, when no more can come. */
  logs(pod: Pod, container: string, options: LogOptions): Promise<Streamed<Readable>>;
  exec(pod: Pod, container: string, options: ExecOptions): Promise<Streamed<Session>>;
  attach(pod: Pod, container: string, options: AttachOptions): Promise<Streamed<Session>>;
  /** A connection to a port of the pod's loopback. */
  connect(pod: Pod, port: number): Promise<Streamed<Duplex>>;
}

/** `code`: of HTTP. */
export type Streamed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly code: number; readonly message: string };

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
  /** Its exit code. */
  readonly done: Promise<number>;
  /** Hangs up. */
  close(): void;
}
