import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { decode, encode } from 'dns-packet';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Service } from '../../api/generated/types.ts';
import { createRealWorld } from '../../host/world.ts';
import { SimulatedWorld } from '../../sim/world/world.ts';
import { decodeQuestion, encodeFailure, encodeReply } from './messages.ts';
import type { ClusterRecords } from './records.ts';
import { DnsServer } from './server.ts';
import { Upstream } from './upstream.ts';

describe('questions on the wire', () => {
  const query = Buffer.from('abcd010000010000000000000244420453686f70037376630000010001', 'hex');
  const address = (data: string) => ({ name: 'db.shop.svc', type: 'A', ttl: 5, data }) as const;

  test('are decoded, whatever their case', () => {
    expect(decodeQuestion(query)).toMatchObject({ id: 0xabcd, name: 'db.shop.svc', type: 'A', longest: undefined });
  });

  test('are answered with records, with none, or with that there is no such name', () => {
    const question = decodeQuestion(query);
    if (question === undefined) throw new Error('not read');
    const answer = encodeReply(question, { code: 'success', answers: [address('10.0.0.1'), address('10.0.0.2')] });
    expect(answer.toString('hex', 0, 12)).toBe('abcd85800001000200000000');
    expect(answer.toString('hex', answer.length - 16)).toBe('c00c000100010000000500040a000002');
    expect(encodeReply(question, { code: 'success', answers: [] }).toString('hex', 0, 12)).toBe('abcd85800001000000000000');
    expect(encodeReply(question, { code: 'noSuchName', answers: [] }).toString('hex', 0, 12)).toBe('abcd85830001000000000000');
    expect(encodeFailure(question).readUInt16BE(2) & 15).toBe(2);
  });

  test('get as many records as fit, and the others over TCP', () => {
    const question = decodeQuestion(query);
    if (question === undefined) throw new Error('not read');
    const answers = Array.from({ length: 100 }, (_, i) => address(`10.0.0.${i}`));
    const short = decode(encodeReply(question, { code: 'success', answers }));
    expect(short).toMatchObject({ flag_tc: true });
    expect(encodeReply(question, { code: 'success', answers }).length).toBeLessThanOrEqual(512);
    expect(short.answers?.length).toBe(30);
    expect(decode(encodeReply(question, { code: 'success', answers }, true))).toMatchObject({ flag_tc: false, answers: { length: 100 } });
    const wide = decode(encodeReply({ ...question, longest: 4096 }, { code: 'success', answers }));
    expect(wide).toMatchObject({ flag_tc: false, answers: { length: 100 }, additionals: [{ type: 'OPT' }] });
  });

  test('that are none, or end too soon, are not', () => {
    for (let length = 0; length < query.length; length++) expect(decodeQuestion(query.subarray(0, length))).toBeUndefined();
    expect(decodeQuestion(Buffer.from(query).fill(0x81, 2, 3))).toBeUndefined();
    expect(decodeQuestion(Buffer.from(query).fill(0xc0, 12, 13))).toBeUndefined();
  });
});

/** A server of names outside of the cluster: each has the address 192.0.2.1. */
async function outsideServer(): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const { id = 0, questions = [] } = decode(message);
    const answers = questions.map(({ name }) => ({ name, type: 'A', ttl: 60, data: '192.0.2.1' }) as const);
    socket.send(encode({ type: 'response', id, questions, answers }), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

/** Of 127.0.0.1, for UDP and for TCP. */
async function freePort(): Promise<number> {
  const [tcp, udp] = [createServer(), createSocket('udp4')];
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  const isFree = await new Promise<boolean>((resolve) => {
    udp.on('error', () => resolve(false));
    udp.bind(port, '127.0.0.1', () => resolve(true));
  });
  await Promise.all([tcp, udp].map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
  return isFree ? port : freePort();
}

test('a server outside that cannot be connected to is passed over', async () => {
  // Connecting to the address of all hosts needs a permission that the socket has not asked for.
  const servers = ['255.255.255.255:53', await outsideServer()];
  const upstream = new Upstream({ world: createRealWorld({ logLevel: 'silent' }), own: new Set(), servers: () => servers });
  const answer = await upstream.ask(encode({ type: 'query', id: 7, questions: [{ type: 'A', name: 'elsewhere.test' }] }), false);
  expect(decode(answer ?? Buffer.alloc(0))).toMatchObject({ id: 7, answers: [{ data: '192.0.2.1' }] });
});

const noRecords: ClusterRecords = {
  domain: 'cluster.local',
  hasNamespace: () => false,
  service: () => undefined,
  slices: () => [],
  serviceAt: () => undefined,
  slicesAt: () => [],
};

test('a server whose address is in use can be stopped', async () => {
  const user = createSocket('udp4');
  await new Promise<void>((resolve) => user.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void user.close());
  const world = new SimulatedWorld(1);
  const server = new DnsServer({ world, addresses: ['127.0.0.1'], port: user.address().port, records: noRecords });
  server.listen();
  await expect.poll(() => world.lines.map(({ fields }) => fields['error'])).toContainEqual(expect.stringMatching(/^bind EADDRINUSE/));
  expect(() => server.stop()).not.toThrow();
});

test('a resolver gets the names of the cluster and those outside, over UDP and, if they are many, over TCP', async () => {
  const upstream = await outsideServer();
  const spec = { web: { clusterIP: '10.96.0.5' }, many: { clusterIP: 'None' }, out: { type: 'ExternalName', externalName: 'example.com' } } as const;
  const service = (name: string): Service | undefined =>
    name in spec ? { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: spec[name as keyof typeof spec], status: { loadBalancer: {} } } : undefined;
  const endpoints = Array.from({ length: 300 }, (_, i) => ({ addresses: [`10.1.${i >> 8}.${i & 255}`], conditions: { ready: true } }));
  const slice = { apiVersion: 'v1', kind: 'EndpointSlice', metadata: { name: 'many' }, addressType: 'IPv4', endpoints, ports: [] };
  const port = await freePort();
  const server = new DnsServer({
    world: createRealWorld({ logLevel: 'silent' }),
    addresses: ['127.0.0.1'],
    port,
    upstreamServers: () => [upstream],
    records: {
      domain: 'cluster.local',
      hasNamespace: (namespace) => namespace === 'shop',
      service: (_, name) => service(name),
      slices: (_, name) => (name === 'many' ? [slice] : []),
      serviceAt: () => undefined,
      slicesAt: () => [],
    },
  });
  server.listen();
  onTestFinished(() => server.stop());
  const resolver = new Resolver({ timeout: 20_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${port}`]);
  await expect(resolver.resolve4('web.shop.svc.cluster.local')).resolves.toEqual(['10.96.0.5']);
  expect((await resolver.resolve4('many.shop.svc.cluster.local')).length).toBe(300);
  await expect(resolver.resolve4('out.shop.svc.cluster.local')).resolves.toEqual(['192.0.2.1']);
  await expect(resolver.resolve4('elsewhere.test')).resolves.toEqual(['192.0.2.1']);
  await expect(resolver.resolve4('x.shop.svc.cluster.local')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await expect(resolver.resolve6('web.shop.svc.cluster.local')).rejects.toMatchObject({ code: 'ENODATA' });
});

test('records of a name outside that cannot be written again end no process', async () => {
  let answered = 0;
  const hostile = createSocket('udp4');
  hostile.on('message', (message, from) => {
    const { id = 0, questions = [] } = decode(message);
    // A fingerprint of three bytes, which no algorithm has.
    const record = Buffer.from('016100002c000100000005000501010a0b0c', 'hex');
    const reply = Buffer.concat([encode({ type: 'response', id, questions }), record]);
    reply.writeUInt16BE(1, 6);
    hostile.send(reply, from.port, from.address);
    answered++;
  });
  await new Promise<void>((resolve) => hostile.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void hostile.close());
  const lines: string[] = [];
  const real = createRealWorld({ logLevel: 'silent' });
  const world = { ...real, log: { ...real.log, debug: (message: string) => void lines.push(message) } };
  const port = await freePort();
  const spec = { type: 'ExternalName', externalName: 'hostile.test' } as const;
  const records = { ...noRecords, hasNamespace: () => true, service: () => ({ metadata: { name: 'out' }, spec }) as unknown as Service };
  const server = new DnsServer({ world, addresses: ['127.0.0.1'], port, records, upstreamServers: () => [`127.0.0.1:${hostile.address().port}`] });
  server.listen();
  onTestFinished(() => server.stop());
  const client = createSocket('udp4');
  onTestFinished(() => void client.close());
  const question = encode({ type: 'query', id: 7, questions: [{ type: 'A', name: 'out.shop.svc.cluster.local' }] });
  await expect
    .poll(() => {
      client.send(question, port, '127.0.0.1');
      return lines;
    })
    .toContain('a question of a pod was not answered');
  expect(answered).toBeGreaterThan(0);
});

/** A server that answers nothing, and the names that it was asked for. */
async function silentServer(): Promise<{ readonly address: string; readonly asked: string[] }> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (message) => void asked.push(decode(message).questions?.[0]?.name ?? ''));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

async function clientAt(address: string): Promise<UdpSocket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  onTestFinished(() => void socket.close());
  return socket;
}

test('a client that asks without end, or holds connections, leaves room for the others', async () => {
  const [outside, port] = [await silentServer(), await freePort()];
  const world = createRealWorld({ logLevel: 'silent' });
  const server = new DnsServer({ world, addresses: ['127.0.0.1'], port, upstreamServers: () => [outside.address], records: noRecords });
  server.listen();
  onTestFinished(() => server.stop());
  const [greedy, other] = [await clientAt('127.0.0.2'), await clientAt('127.0.0.3')];
  const ask = (from: UdpSocket, name: string, id: number) =>
    new Promise((sent) => {
      from.send(encode({ type: 'query', id, questions: [{ type: 'A', name }] }), port, '127.0.0.1', sent);
    });
  for (let id = 0; id < 200; id++) await ask(greedy, 'greedy.test', id);
  await ask(other, 'other.test', 1);
  await expect.poll(() => outside.asked).toContain('other.test');
  expect(outside.asked.filter((name) => name === 'greedy.test').length).toBe(100);

  const ended: number[] = [];
  for (let i = 0; i < 11; i++) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    socket.on('close', () => void ended.push(i));
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
  }
  await expect.poll(() => ended).toEqual([10]);
});
