import { Worker } from 'node:worker_threads';
import { CallLimit } from '../../world/call-limit.ts';
import type { LayerRequest, LayerUnpacker, UnpackedLayer } from '../../node/images/unpacker.ts';
import type { LayerAnswer } from './layer-thread.ts';
import { syncFileSystem } from './sync-file-system.ts';

/** Each takes a core while it works. */
const mostThreads = 4;

/**
 * Threads of this process that unpack layers: a thread can have another root than its process. Each call gets a thread that is idle, or a new one; beyond
 * `mostThreads` it waits.
 * `refused` makes the error of a layer that is wrong itself.
 */
export class LayerThreads implements LayerUnpacker {
  readonly #program: string;
  readonly #refused: (message: string) => Error;
  readonly #limit = new CallLimit(mostThreads);
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();

  /** `program`: the script of the thread, which calls `runLayerThread`. */
  constructor(program: string, refused: (message: string) => Error) {
    this.#program = program;
    this.#refused = refused;
  }

  unpack(request: LayerRequest): Promise<UnpackedLayer> {
    return this.#limit.run(() => this.#unpack(request));
  }

  async #unpack(request: LayerRequest): Promise<UnpackedLayer> {
    const thread = this.#idle.pop() ?? this.#start();
    thread.ref();
    const answer = await new Promise<LayerAnswer>((resolve, reject) => {
      const lost = (): void => reject(new Error('the thread that unpacked it has ended'));
      thread.once('message', (message: LayerAnswer) => {
        thread.removeAllListeners('error');
        thread.removeListener('exit', lost);
        resolve(message);
      });
      thread.once('error', reject);
      thread.once('exit', lost);
      thread.postMessage(request);
    });
    thread.unref();
    this.#idle.push(thread);
    if (answer.ok) return answer.layer;
    throw answer.isRefused ? this.#refused(answer.message) : new Error(answer.message);
  }

  sync(directory: string): Promise<void> {
    return syncFileSystem(directory);
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#all, (thread) => thread.terminate()));
  }

  #start(): Worker {
    const thread = new Worker(this.#program, { workerData: 'layers' });
    this.#all.add(thread);
    thread.once('exit', () => {
      this.#all.delete(thread);
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    return thread;
  }
}
