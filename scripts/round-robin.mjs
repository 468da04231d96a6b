#!/usr/bin/env node
// A TCP proxy that gives each connection to the next server: `node scripts/round-robin.mjs HOST:PORT HOST:PORT…` prints the port it listens on,
// on 127.0.0.1. A server that refuses is passed over. For tests: HAProxy does more.
import net from 'node:net';

const targets = process.argv.slice(2).map((text) => ({ host: text.slice(0, text.lastIndexOf(':')), port: Number(text.slice(text.lastIndexOf(':') + 1)) }));
let turn = 0;

function forward(client, attempts = targets.length) {
  const server = net.connect({ ...targets[turn++ % targets.length], noDelay: true });
  const failed = () => (attempts > 1 ? forward(client, attempts - 1) : client.destroy());
  server.once('error', failed);
  server.once('connect', () => {
    server.off('error', failed);
    const close = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', close).on('close', close);
    client.pipe(server).pipe(client);
  });
}

const proxy = net.createServer({ noDelay: true }, (client) => {
  client.on('error', () => client.destroy());
  forward(client);
});
proxy.listen(0, '127.0.0.1', () => console.log(proxy.address().port));
