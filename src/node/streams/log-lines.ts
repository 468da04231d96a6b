/** Lines of a container's log: '2026-01-02T03:04:05.000000000Z stdout F text'. */
export interface LogLine {
  readonly time: string;
  readonly stream: string;
  /** False: the next entry of the stream continues the line. */
  readonly ends: boolean;
  readonly text: Buffer;
}

/** Undefined: it is no such line. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const first = line.indexOf(32);
  const second = line.indexOf(32, first + 1);
  const third = line.indexOf(32, second + 1);
  if (first < 0 || second < 0 || third < 0) return undefined;
  const tags = line.toString('latin1', second + 1, third).split(':');
  return { time: line.toString('latin1', 0, first), stream: line.toString('latin1', first + 1, second), ends: tags[0] === 'F', text: line.subarray(third + 1) };
}

export interface LineOptions {
  /** Milliseconds since 1970. */
  readonly since: number | undefined;
  readonly timestamps: boolean;
  readonly limitBytes: number | undefined;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

/** Formats log lines for `kubectl logs`, up to a limit. */
export class LogPrinter {
  readonly #options: LineOptions;
  #left: number;
  /** Whether the next part of a stream continues a line. */
  readonly #midLine = new Set<string>();

  constructor(options: LineOptions) {
    this.#options = options;
    this.#left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  }

  /** The limit is reached. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  print(raw: Buffer): Buffer {
    const line = parseLogLine(raw);
    if (line === undefined || !this.#isWanted(line)) return empty;
    const goesOn = this.#midLine.has(line.stream);
    if (line.ends) this.#midLine.delete(line.stream);
    else this.#midLine.add(line.stream);
    const stamp = this.#options.timestamps && !goesOn ? Buffer.from(`${line.time} `) : empty;
    const printed = Buffer.concat(line.ends ? [stamp, line.text, newline] : [stamp, line.text]).subarray(0, Math.min(this.#left, Number.MAX_SAFE_INTEGER));
    this.#left -= printed.length;
    return printed;
  }

  #isWanted({ time, stream }: LogLine): boolean {
    const { since, stream: wanted } = this.#options;
    if (wanted !== 'All' && stream !== wanted.toLowerCase()) return false;
    return since === undefined || Date.parse(`${time.slice(0, 23)}Z`) >= since;
  }
}

const empty = Buffer.alloc(0);
const newline = Buffer.from('\n');
