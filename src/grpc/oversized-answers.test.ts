import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createRealWorld } from '../host/world.ts';
import type { CallHandler, ServerCall } from './channel.ts';
import { Http2Channel } from './http2-channel.ts';
import { GrpcServer } from './http2-server.ts';

const nothing = new Uint8Array(0);

test('a server that answers far too much, or without end, is asked again: later calls have another connection', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'grpc-'));
  const address = `unix://${directory}/server.sock`;
  const server = new GrpcServer(
    new Map<string, CallHandler>([
      [
        '/test/Flood',
        async function* flood(call: ServerCall) {
          while (!call.signal.aborted) yield new Uint8Array(100);
        },
      ],
      [
        '/test/Huge',
        async function* huge() {
          yield new Uint8Array(64 * 1024 * 1024);
        },
      ],
      [
        '/test/Probe',
        async function* probe() {
          yield nothing;
        },
      ],
    ]),
  );
  await server.listen(address);
  const channel = new Http2Channel({ address, timers: createRealWorld({ logLevel: 'silent' }).timers });
  try {
    for (const bad of ['/test/Flood', '/test/Huge', '/test/Flood', '/test/Huge']) {
      await expect(channel.unary(bad, nothing)).rejects.toThrow(/more than one message|larger than max|ENHANCE_YOUR_CALM/);
      // The call that finds out may fail; the next one does not.
      await channel.unary('/test/Probe', nothing).catch(() => nothing);
      expect(await channel.unary('/test/Probe', nothing)).toHaveLength(0);
    }
  } finally {
    channel.close();
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
