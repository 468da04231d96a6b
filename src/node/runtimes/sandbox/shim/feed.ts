import type { Readable, Writable } from 'node:stream';

/** Input that the program does not read stays with the client. Further frames of a chunk come although the socket is paused. */
export function feed(socket: Readable, stdin: Writable | null | undefined, bytes: Buffer): void {
  if (stdin?.writable !== true || stdin.write(bytes) || socket.isPaused()) return;
  socket.pause();
  const resume = (): void => {
    stdin.off('drain', resume).off('close', resume);
    socket.resume();
  };
  stdin.on('drain', resume).on('close', resume);
}
