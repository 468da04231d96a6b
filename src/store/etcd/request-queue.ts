/** What a client sends on a stream, when it has something to send. */
export class RequestQueue<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = [];
  #wake: () => void = () => undefined;
  #ended = false;

  push(request: T): void {
    this.#waiting.push(request);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    while (!this.#ended) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
