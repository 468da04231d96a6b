import type { ReadStream, WriteStream } from 'node:tty';

interface Screen {
  /** Stays at the top. */
  readonly head: readonly string[];
  readonly rows: readonly string[];
}

const enter = '\u001b[?1049h\u001b[?25l';
const exit = '\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';
const clearLine = '\u001b[K';
const clearBelow = '\u001b[J';

/** The alternate screen of a terminal with a list that scrolls. Left, the terminal is as it was. */
export class TopTerminal {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #onKey = (key: Buffer): void => this.#press(key.toString());
  readonly #onResize = (): void => this.#draw();
  #screen: Screen = { head: [], rows: [] };
  #top = 0;
  #close: () => void = () => undefined;
  closed = false;
  readonly onceClosed: Promise<void>;

  constructor(input: ReadStream, output: WriteStream) {
    this.#input = input;
    this.#output = output;
    this.onceClosed = new Promise((resolve) => {
      this.#close = resolve;
    });
    input.setRawMode(true);
    input.resume();
    input.on('data', this.#onKey);
    output.on('resize', this.#onResize);
    output.write(enter);
  }

  show(screen: Screen): void {
    this.#screen = screen;
    this.#draw();
  }

  #press(key: string): void {
    const page = this.#room();
    const steps: Readonly<Record<string, number>> = { '\u001b[A': -1, '\u001b[B': 1, k: -1, j: 1, '\u001b[5~': -page, '\u001b[6~': page, ' ': page };
    if (key === 'q' || key === '\u0003' || key === '\u001b') {
      this.closed = true;
      this.#close();
      return;
    }
    const step = steps[key];
    if (step === undefined) return;
    this.#top += step;
    this.#draw();
  }

  #room(): number {
    return Math.max(1, this.#output.rows - this.#screen.head.length - 1);
  }

  #draw(): void {
    const { head, rows } = this.#screen;
    const room = this.#room();
    this.#top = Math.max(0, Math.min(this.#top, rows.length - room));
    const shown = rows.slice(this.#top, this.#top + room);
    const place = rows.length > room ? `${this.#top + 1} to ${this.#top + shown.length} of ${rows.length}; arrow keys scroll, ` : '';
    const lines = [...head, ...shown, `${place}q ends`];
    this.#output.write(`${home}${lines.slice(0, this.#output.rows).join(`${clearLine}\r\n`)}${clearLine}${clearBelow}`);
  }

  leave(): void {
    this.#input.removeListener('data', this.#onKey);
    this.#output.removeListener('resize', this.#onResize);
    this.#input.setRawMode(false);
    this.#input.pause();
    this.#output.write(exit);
  }
}
