// The API from outside: TLS, embedded store with fsync, 32 clients on one machine with the server.
import { quantile, rate, startServer } from './_server.mjs';

const n = Number(process.env.N ?? 10_000);

export async function run() {
  const server = await startServer();
  const { request, watch } = server.client;
  const base = '/api/v1/namespaces/default/configmaps';
  const body = (name, text = 'x'.repeat(1000)) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { key: text } });
  try {
    await rate(1500, async (i) => {
      await request('POST', base, body(`w-${i}`));
      await request('GET', `${base}/w-${i}`);
      await request('PATCH', `${base}/w-${i}`, { data: { key: 'y' } }, 'application/merge-patch+json');
      await request('DELETE', `${base}/w-${i}`);
    });
    const figures = {};
    figures['creates a second'] = await rate(n, (i) => request('POST', base, body(`m-${i}`)));
    figures['gets a second'] = await rate(n, (i) => request('GET', `${base}/m-${i}`));
    const lists = [];
    for (let i = 0; i < 7; i++) {
      const began = performance.now();
      await request('GET', base);
      lists.push(performance.now() - began);
    }
    figures[`list of ${n} x 1 KB, ms`] = quantile(lists, 0.5);
    figures['merge patches a second'] = await rate(n, (i) => request('PATCH', `${base}/m-${i}`, { data: { key: `y${i}` } }, 'application/merge-patch+json'));
    figures['deletes a second'] = await rate(n, (i) => request('DELETE', `${base}/m-${i}`));
    Object.assign(figures, await writeToWatch(request, watch, base, body));
    figures['resident after all that, MB'] = Math.round(server.residentMb());
    Object.assign(figures, await doingNothing(await server.nothing(), base, body));
    return figures;
  } finally {
    await server.stop();
    server.remove();
  }
}

/** The same requests to the comparison server: the upper limit of this client on this machine. */
async function doingNothing({ client: { request }, stop }, base, body) {
  await rate(3000, (i) => request('POST', base, body(`w-${i}`)));
  const figures = { 'doing nothing: creates a second': await rate(n, (i) => request('POST', base, body(`m-${i}`))) };
  figures['doing nothing: gets a second'] = await rate(n, (i) => request('GET', `${base}/m-${i}`));
  stop();
  return figures;
}

/** One writer, 100 writes a second: the time from the write to its watch event. */
async function writeToWatch(request, watch, base, body) {
  const sent = new Map();
  const seen = [];
  const stop = watch(`${base}?watch=true`, (line) => {
    const name = /"name":"(z-\d+)"/.exec(line)?.[1];
    if (name && sent.has(name)) seen.push(performance.now() - sent.get(name));
  });
  for (let i = 0; i < 300; i++) {
    sent.set(`z-${i}`, performance.now());
    request('POST', base, body(`z-${i}`)).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  while (seen.length < 295) await new Promise((resolve) => setTimeout(resolve, 10));
  stop();
  return { 'write to watch, p50 ms': quantile(seen, 0.5), 'write to watch, p99 ms': quantile(seen, 0.99) };
}
