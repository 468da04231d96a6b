import { Worker } from 'node:worker_threads';
import type { ContainerRoot } from '../../node/runtimes/sandbox/container-root.ts';
import type { RootMaker } from '../../node/runtimes/sandbox/shim/roots.ts';
import type { Timers } from '../../world/world.ts';

/** A request to a thread. It answers with an error message, or '' on success. */
export interface ContainerRootRequest {
  readonly pid: number;
  readonly root: ContainerRoot;
}

interface Job {
  readonly request: ContainerRootRequest;
  readonly done: (wrong: string) => void;
}

/** A thread that takes longer waits for a mount that does not answer, such as NFS. */
const longestMs = 1_000;
const mostThreads = 16;

/**
 * Threads of this process that make the root file systems of containers: a thread can enter the mount namespace of another process and come back. One
 * thread serves all requests, at one or two milliseconds each; if it blocks, another one takes over the queue.
 */
export class ContainerRootThreads implements RootMaker {
  readonly #program: string;
  readonly #timers: Timers;
  readonly #idle: Worker[] = [];
  readonly #waiting: Job[] = [];
  readonly #jobs = new Map<Worker, Job | undefined>();

  /** `program`: the script of the thread, which calls `runContainerRootThread`. */
  constructor(program: string, timers: Timers) {
    this.#program = program;
    this.#timers = timers;
    this.#start();
  }

  make(pid: number, root: ContainerRoot): Promise<string> {
    return new Promise((done) => {
      const job = { request: { pid, root }, done };
      this.#waiting.push(job);
      this.#next();
      this.#watch(job);
    });
  }

  #next(): void {
    if (this.#jobs.size === 0) this.#start();
    const thread = this.#waiting.length === 0 ? undefined : this.#idle.pop();
    if (thread === undefined) return;
    const job = this.#waiting.shift();
    this.#jobs.set(thread, job);
    thread.postMessage(job?.request);
  }

  /** A request that waits too long gets another thread. */
  #watch(job: Job): void {
    if (!this.#waiting.includes(job)) return;
    this.#timers.after(longestMs, () => {
      const at = this.#waiting.indexOf(job);
      if (at < 0) return;
      if (this.#jobs.size < mostThreads) {
        this.#start();
        return this.#watch(job);
      }
      this.#waiting.splice(at, 1);
      job.done('too many mounts do not answer');
    });
  }

  #start(): void {
    const thread = new Worker(this.#program);
    this.#jobs.set(thread, undefined);
    thread.on('message', (wrong: string) => {
      this.#jobs.get(thread)?.done(wrong);
      this.#jobs.set(thread, undefined);
      this.#idle.push(thread);
      this.#next();
    });
    thread.on('error', (error) => this.#lose(thread, String(error)));
    thread.on('exit', () => this.#lose(thread, 'the thread that made it has ended'));
    // After the listeners, which would keep the process alive.
    thread.unref();
  }

  /** A thread that cannot come back to the host's mounts ends itself. If no thread can start, waiting requests fail. */
  #lose(thread: Worker, why: string): void {
    if (!this.#jobs.has(thread)) return;
    const job = this.#jobs.get(thread) ?? this.#waiting.shift();
    this.#jobs.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
    job?.done(why);
    if (this.#waiting.length > 0) this.#next();
  }
}
