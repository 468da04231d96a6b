// A call of CSI (CreateVolume) over a unix socket, client and server in one process: Mooring's transport beside @grpc/grpc-js, alternating.
//   [N=3000] [ROUNDS=3] npm run bench grpc
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import { createClient } from '../dist/grpc/client.js';
import { Controller, CreateVolumeRequestSchema, CreateVolumeResponseSchema } from '../dist/grpc/generated/csi.js';
import { Http2Channel } from '../dist/grpc/http2-channel.js';
import { GrpcServer } from '../dist/grpc/http2-server.js';
import { handlersOf } from '../dist/grpc/service.js';
import { createRealWorld } from '../dist/host/world.js';

const n = Number(process.env.N ?? 3000);
const rounds = Number(process.env.ROUNDS ?? 3);
const request = { name: 'pvc-0b0a4a4e', capacityRange: { requiredBytes: 1n << 30n }, parameters: { type: 'fast' } };
const answer = ({ name }) => ({ volume: { volumeId: name, capacityBytes: 1n << 30n } });

export async function run() {
  const folder = mkdtempSync(path.join(tmpdir(), 'mooring-bench-'));
  const sides = { own: await own(path.join(folder, 'own.sock')), 'grpc-js': await grpcJs(path.join(folder, 'js.sock')) };
  const figures = {};
  try {
    for (let round = 0; round < rounds; round++)
      for (const [name, { call }] of Object.entries(sides)) {
        const { p50, p99, rate } = await measure(call);
        keep(figures, `${name}: one call, p50 ms`, p50);
        keep(figures, `${name}: one call, p99 ms`, p99);
        keep(figures, `${name}: calls a second, 32 at once`, rate);
      }
  } finally {
    for (const { close } of Object.values(sides)) await close();
    rmSync(folder, { recursive: true });
  }
  return Object.fromEntries(Object.entries(figures).map(([what, values]) => [what, values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]]));
}

const keep = (figures, what, value) => void (figures[what] ??= []).push(Number(value.toPrecision(3)));

async function measure(call) {
  for (let i = 0; i < n / 10; i++) await call();
  const times = [];
  for (let i = 0; i < n; i++) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  const began = performance.now();
  let left = n;
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left-- > 0) await call();
    }),
  );
  return { p50: times[Math.floor(n / 2)], p99: times[Math.floor(n * 0.99)], rate: (n / (performance.now() - began)) * 1000 };
}

async function own(socket) {
  const server = new GrpcServer(handlersOf(Controller, { createVolume: (received) => Promise.resolve(answer(received)) }));
  await server.listen(`unix://${socket}`);
  const channel = new Http2Channel({ address: `unix://${socket}`, timers: createRealWorld().timers });
  const client = createClient(Controller, channel);
  return {
    call: () => client.createVolume(request),
    close: () => {
      channel.close();
      return server.close();
    },
  };
}

async function grpcJs(socket) {
  const codec = (schema) => [(message) => Buffer.from(toBinary(schema, create(schema, message))), (bytes) => fromBinary(schema, bytes)];
  const [encodeRequest, decodeRequest] = codec(CreateVolumeRequestSchema);
  const [encodeAnswer, decodeAnswer] = codec(CreateVolumeResponseSchema);
  const method = '/csi.v1.Controller/CreateVolume';
  const server = new Server();
  server.register(method, (call, respond) => respond(null, answer(call.request)), encodeAnswer, decodeRequest, 'unary');
  await new Promise((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => (error === null ? resolve() : reject(error)));
  });
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  return {
    call: () =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(method, encodeRequest, decodeAnswer, request, (error, received) => (error === null ? resolve(received) : reject(error)));
      }),
    close: () => {
      client.close();
      server.forceShutdown();
    },
  };
}
