/**
 * What a command waits for: on a terminal, one line on standard error, which is there from the second second on and is erased when the wait is over.
 * Elsewhere nothing is printed.
 */
export interface Progress {
  /** From now on it waits for something else. */
  readonly say: (text: string) => void;
  /** Before other output: erases the line, which comes back. */
  readonly clear: () => void;
}

const everyMs = 1000;
/** Of a terminal that does not know its own width. */
const usualColumns = 80;
const erase = '\r\u001b[K';

/** `text`: what it waits for first, such as 'Reading the cluster'. */
export async function withProgress<T>(text: string, task: (progress: Progress) => Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY || process.env['TERM'] === 'dumb') return unseen(task);
  const began = performance.now();
  let current = text;
  let isShown = false;
  const draw = (): void => {
    isShown = true;
    stderr.write(`${erase}${lineOf(current, performance.now() - began, stderr.columns || usualColumns)}`);
  };
  const clear = (): void => {
    if (isShown) stderr.write(erase);
    isShown = false;
  };
  const timer = setInterval(draw, everyMs);
  const say = (next: string): void => {
    if (next === current) return;
    current = next;
    if (isShown) draw();
  };
  try {
    return await task({ say, clear });
  } finally {
    clearInterval(timer);
    clear();
  }
}

/** What is awaited may have no handle but a timer of the World, which does not keep the process alive. */
async function unseen<T>(task: (progress: Progress) => Promise<T>): Promise<T> {
  const alive = setInterval(() => undefined, 2 ** 31 - 1);
  try {
    return await task({ say: () => undefined, clear: () => undefined });
  } finally {
    clearInterval(alive);
  }
}

/** 'Reading the cluster … 3 s', in one line of the terminal: a longer one could not be erased. */
export function lineOf(text: string, ms: number, columns: number): string {
  const seconds = ` … ${Math.floor(ms / 1000)} s`;
  const room = Math.max(columns - 1 - seconds.length, 0);
  return `${text.length > room ? `${text.slice(0, Math.max(room - 1, 0))}~` : text}${seconds}`;
}
