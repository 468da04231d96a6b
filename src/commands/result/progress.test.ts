import { afterEach, describe, expect, test, vi } from 'vitest';
import { lineOf, withProgress } from './progress.ts';

const isTTY = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY');

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  if (isTTY === undefined) Reflect.deleteProperty(process.stderr, 'isTTY');
  else Object.defineProperty(process.stderr, 'isTTY', isTTY);
});

/** What is written to standard error, which is a terminal or not, in a wait of three seconds. */
async function written(terminal: boolean): Promise<readonly string[]> {
  vi.useFakeTimers();
  vi.stubEnv('TERM', 'xterm');
  Object.defineProperty(process.stderr, 'isTTY', { value: terminal, configurable: true });
  const lines: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0);
  const done = withProgress('Reading', async ({ say, clear }) => {
    await new Promise((resolve) => void setTimeout(resolve, 900));
    say('Reading more');
    await new Promise((resolve) => void setTimeout(resolve, 900));
    say('Removing');
    clear();
    await new Promise((resolve) => void setTimeout(resolve, 900));
  });
  await vi.runAllTimersAsync();
  await done;
  return lines;
}

describe('what a command waits for', () => {
  test('is one line of a terminal after a second, and is erased', async () => {
    const erase = '\r\u001b[K';
    expect(await written(true)).toEqual([`${erase}Reading more … 1 s`, `${erase}Removing … 1 s`, erase, `${erase}Removing … 2 s`, erase]);
  });

  test.each([true, false])('keeps the process alive, and no longer (terminal: %s)', async (terminal) => {
    vi.stubEnv('TERM', 'xterm');
    Object.defineProperty(process.stderr, 'isTTY', { value: terminal, configurable: true });
    const begun = vi.spyOn(globalThis, 'setInterval');
    const ended = vi.spyOn(globalThis, 'clearInterval');
    await withProgress('Waiting', async () => expect(begun.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([true]));
    expect(ended).toHaveBeenCalledWith(begun.mock.results[0]?.value);
  });

  test('is nothing where there is no terminal', async () => {
    expect(await written(false)).toEqual([]);
  });

  test('is cut to the width of the terminal', () => {
    expect(lineOf('Reading the cluster', 3999, 80)).toBe('Reading the cluster … 3 s');
    expect(lineOf('Reading the cluster', 3999, 20)).toBe('Reading the ~ … 3 s');
  });
});
