import type { Readable } from 'node:stream';
import type { Exchange, ResponseHead } from '../exchange.ts';

const maxBufferedBytes = 256 * 1024;

/** With backpressure; the source is destroyed once the client has left. */
export function pipeToClient(source: Readable, exchange: Exchange, head: ResponseHead): void {
  const output = exchange.open(head);
  exchange.onClose(() => source.destroy());
  source.on('data', (chunk: Buffer) => {
    output.write(chunk);
    if (output.buffered() < maxBufferedBytes) return;
    source.pause();
    output.onceDrained(() => source.resume());
  });
  source.on('end', () => output.end());
  source.on('error', () => output.abort());
}
