import type { Http2Stream } from 'node:http2';

/** Resolves when the stream takes more, or is closed. */
export function drained(stream: Http2Stream): Promise<void> {
  if (stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = (): void => {
      stream.off('drain', settle).off('close', settle);
      resolve();
    };
    stream.on('drain', settle).on('close', settle);
  });
}
