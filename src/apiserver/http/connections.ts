import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Cancel, World } from '../../world/world.ts';
import type { Limits } from '../limits.ts';

interface Progress {
  taken: number;
  /** Monotonic milliseconds when the client last read something, or had nothing to read. */
  since: number;
}

interface Activity {
  /** Open now. */
  streams: number;
  /** Monotonic milliseconds of the last end of one. */
  since: number;
}

/**
 * The open connections: stalled ones are closed, and all of them can be ended.
 *
 * A client that vanished (its machine lost power) is noticed by TCP keep-alive while no bytes are on their way to it,
 * by HTTP/2 pings, and otherwise because it does not read.
 */
export class Connections {
  readonly #limits: Limits;
  readonly #world: World;
  /** Handshake included. */
  readonly #sockets = new Set<Socket>();
  /** After the handshake. */
  readonly #progress = new Map<TLSSocket, Progress>();
  readonly #sessions = new Set<ServerHttp2Session>();
  #sweep: Cancel | undefined;
  #stopping = false;

  constructor(limits: Limits, world: World) {
    this.#limits = limits;
    this.#world = world;
  }

  get size(): number {
    return this.#sockets.size;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  addSecure(socket: TLSSocket): void {
    this.#progress.set(socket, { taken: 0, since: this.#world.clock.monotonic() });
    socket.once('close', () => this.#progress.delete(socket));
    this.#scheduleSweep();
  }

  addSession(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    session.once('close', () => this.#sessions.delete(session));
    // The window of the whole connection: bodies of several streams must not wait for one another.
    session.setLocalWindowSize(16 * 1024 * 1024);
    this.#probe(session, this.#activityOf(session));
    if (this.#stopping) session.close();
  }

  #activityOf(session: ServerHttp2Session): Activity {
    const { clock } = this.#world;
    const activity: Activity = { streams: 0, since: clock.monotonic() };
    session.on('stream', (stream) => {
      activity.streams += 1;
      stream.once('close', () => {
        activity.streams -= 1;
        activity.since = clock.monotonic();
      });
    });
    return activity;
  }

  /** New requests on HTTP/2 connections are refused, connections without a request are closed. */
  beginStop(): void {
    this.#stopping = true;
    for (const session of this.#sessions) session.close();
  }

  cutOff(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Pings an HTTP/2 client, and closes a connection that was idle for long enough. */
  #probe(session: ServerHttp2Session, activity: Activity): void {
    const { timers, clock } = this.#world;
    const cancel = timers.after(activity.streams === 0 ? this.#limits.probeIdleMs : this.#limits.probeMs, () => {
      if (session.destroyed) return;
      if (activity.streams === 0 && clock.monotonic() - activity.since >= this.#limits.idleMs) {
        session.close();
        return;
      }
      const giveUp = timers.after(this.#limits.probeAnswerMs, () => session.destroy());
      session.ping(() => {
        giveUp();
        if (!session.destroyed) this.#probe(session, activity);
      });
    });
    session.once('close', cancel);
  }

  #scheduleSweep(): void {
    if (this.#sweep !== undefined || this.#progress.size === 0) return;
    this.#sweep = this.#world.timers.after(this.#limits.stalledMs / 4, () => {
      this.#sweep = undefined;
      this.#closeStalled();
      this.#scheduleSweep();
    });
  }

  #closeStalled(): void {
    const now = this.#world.clock.monotonic();
    for (const [socket, progress] of this.#progress) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || taken !== progress.taken) {
        progress.taken = taken;
        progress.since = now;
      } else if (now - progress.since >= this.#limits.stalledMs) socket.destroy();
    }
  }
}
