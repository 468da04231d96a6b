/** Calls that wait at the same time share one request, which begins after all of them. */
export class LinearizableRevision {
  readonly #ask: () => Promise<number>;
  #running: Promise<number> | undefined;
  #next: Promise<number> | undefined;

  /** `ask`: etcd's revision at a moment after the call. */
  constructor(ask: () => Promise<number>) {
    this.#ask = ask;
  }

  /** etcd's revision at a moment after this call. */
  read(): Promise<number> {
    if (this.#running === undefined) return this.#start();
    // The request under way may have been answered before this call.
    this.#next ??= this.#running.then(ignore, ignore).then(() => {
      this.#next = undefined;
      return this.#start();
    });
    return this.#next;
  }

  #start(): Promise<number> {
    const running = this.#ask().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}

const ignore = (): void => undefined;
