import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { frame, frames } from './protocol.ts';
import { sessionOver } from './session.ts';

test('many frames of unread output are waited for by one listener', async () => {
  const warnings: string[] = [];
  const warn = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', warn);
  const server = createServer((socket) => socket.write(Buffer.concat([...Array<Buffer>(50).fill(frame(frames.stdout, Buffer.alloc(1000))), exit])));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket: Socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  const session = sessionOver(socket, { stdin: false, stdout: true, stderr: false });
  let read = 0;
  expect(await session.done).toBe(0);
  socket.end();
  for await (const chunk of session.stdout ?? []) read += (chunk as Buffer).length;
  expect(read).toBe(50_000);
  expect(warnings).toEqual([]);
  process.off('warning', warn);
  server.close();
});

const exit = frame(frames.exit, Buffer.from(JSON.stringify({ code: 0 })));
