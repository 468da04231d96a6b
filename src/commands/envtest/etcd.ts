import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { firstSignal } from '../../host/first-signal.ts';
import { type Command, type FlagValues, UsageError } from '../command.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';

/** `moor envtest etcd`: what envtest waits for before it starts kube-apiserver. */
export const etcdCommand: Command = {
  about: `Answers GET /health at --listen-client-urls, as etcd does, until SIGTERM. It keeps nothing: the objects are in the memory of
"moor envtest kube-apiserver". ARGS are flags of etcd.`,
  arguments: { usage: '-- ARGS', about: 'flags of etcd', least: 0, most: Number.POSITIVE_INFINITY },
  flags: [],
  examples: [{ line: 'moor envtest etcd -- --listen-client-urls=http://127.0.0.1:2379', about: 'as the script of moor envtest install' }],
  run: (flags) => runEtcd(flags),
};

const help = `Usage:

  etcd [flags]

  --listen-client-urls
  --unsafe-no-fsync 'false'
`;

async function runEtcd(flags: FlagValues): Promise<ExitCode> {
  const args = flags.arguments;
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help);
    return exitCodes.success;
  }
  const written = args.findLast((arg) => arg.startsWith('--listen-client-urls='))?.split('=')[1] ?? 'http://127.0.0.1:2379';
  if (!URL.canParse(written)) throw new UsageError(`--listen-client-urls must be a URL, not "${written}"`);
  const { hostname, port } = new URL(written);
  const ended = firstSignal();
  const server = http.createServer((request, response) => {
    response.writeHead(request.url === '/health' ? 200 : 404, { 'content-type': 'application/json' });
    response.end(request.url === '/health' ? '{"health":"true","reason":""}' : '');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(Number(port), hostname, resolve);
  });
  process.stderr.write(`etcd of Mooring keeps nothing; it is healthy at ${hostname}:${(server.address() as AddressInfo).port}\n`);
  await ended;
  server.closeAllConnections();
  server.close();
  return exitCodes.success;
}
