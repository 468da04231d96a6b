import { isIP } from 'node:net';
import { type ServerOptions, startServer } from '../cluster/server.ts';
import { version } from '../cluster/version.ts';
import { raiseCompilerBudget } from '../host/compiler-budget.ts';
import { firstSignal } from '../host/first-signal.ts';
import { auditFlags, auditOptions } from './audit-flags.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { etcdFlags, etcdOptions } from './etcd/etcd-flags.ts';
import { privatePath } from './private-path.ts';
import { apiServerFlags, apiServerOptions, logLevelFlag, logLevelOf, parseListen, wholeNumber } from './shared-flags.ts';
import { explainStartFailure } from './start-failure.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';
import { type Progress, withProgress } from './result/progress.ts';

/** `moor server`: an API server alone, on etcd. */
export const serverCommand: Command = {
  about: `Serves the Kubernetes API over HTTPS from the objects in an etcd cluster. Start as many as you like, on as many machines: all
answer alike, and each may end at any time. Nothing is kept on the machine: the certificate authority and the keys of service
accounts are in etcd too, and the first server creates them. The endpoints of the Service kubernetes are the servers that run.

"moor controllers", "moor scheduler" and "moor node" are the rest of a cluster: --servers names all servers to them, or
--kubeconfig a load balancer (--tls-san is its name in the certificates). examples/high-availability has all of it.

SIGTERM: /readyz says so for --shutdown-delay-duration, then watches end, running requests are finished, and it exits.`,
  flags: [
    { name: 'listen', value: 'HOST:PORT', about: 'the address to serve on; port 0 picks a free one', default: '127.0.0.1:6443' },
    {
      name: 'advertise-address',
      value: 'IP',
      about: 'where pods and other machines reach this server',
      default: "the HOST of --listen, or an address of the machine's interfaces",
    },
    { name: 'tls-san', value: 'NAME', about: 'one more name or address in the serving certificate; may be given several times', repeatable: true },
    ...etcdFlags,
    { name: 'kubeconfig', value: 'FILE', about: "the administrator's, written when the server is ready, readable by its owner only", default: 'none' },
    { name: 'merge-kubeconfig', about: 'add to an existing kubeconfig and make "mooring" its current context' },
    { name: 'bootstrap-kubeconfig', value: 'FILE', about: 'also write a kubeconfig with which machines join as nodes, valid for two days' },
    { name: 'kubeconfig-server', value: 'URL', about: 'the server in these files, such as a load balancer', default: 'this one' },
    { name: 'shutdown-delay-duration', value: 'SECONDS', about: 'how long it goes on serving after /readyz says that it stops', default: '0' },
    ...auditFlags,
    ...apiServerFlags,
    logLevelFlag,
  ],
  examples: [
    { line: 'moor server --etcd-servers http://127.0.0.1:2379 --kubeconfig ./kubeconfig', about: 'a first server …' },
    { line: 'moor server --etcd-servers http://127.0.0.1:2379 --listen 127.0.0.1:6444', about: '… and a second one' },
    {
      line: 'moor controllers --kubeconfig ./kubeconfig --servers https://127.0.0.1:6443,https://127.0.0.1:6444',
      about: 'the controllers, which change server when theirs is lost',
    },
  ],
  run: (flags) => runServer(serverOptions(flags)),
};

/** @throws UsageError */
function serverOptions(flags: FlagValues): Omit<ServerOptions, 'onProgress'> {
  const etcd = etcdOptions(flags, 'etcd');
  if (etcd === undefined) throw new UsageError('--etcd-servers is needed');
  const [kubeconfig, bootstrapKubeconfig, kubeconfigServer] = [flags.text('kubeconfig'), flags.text('bootstrap-kubeconfig'), flags.text('kubeconfig-server')];
  if (kubeconfigServer !== undefined && !(URL.canParse(kubeconfigServer) && kubeconfigServer.startsWith('https://')))
    throw new UsageError(`--kubeconfig-server must be a URL, such as https://10.0.0.10:6443, not "${kubeconfigServer}"`);
  const advertiseAddress = flags.text('advertise-address');
  if (advertiseAddress !== undefined && isIP(advertiseAddress) === 0)
    throw new UsageError(`--advertise-address must be an IP address, not "${advertiseAddress}"`);
  return {
    listen: parseListen(flags.text('listen') ?? '127.0.0.1:6443'),
    advertiseAddress,
    hosts: flags.all('tls-san'),
    etcd,
    kubeconfig: kubeconfig === undefined ? undefined : privatePath('kubeconfig', kubeconfig),
    mergeKubeconfig: flags.on('merge-kubeconfig'),
    bootstrapKubeconfig: bootstrapKubeconfig === undefined ? undefined : privatePath('bootstrap-kubeconfig', bootstrapKubeconfig),
    kubeconfigServer,
    shutdownDelayMs: (wholeNumber(flags, 'shutdown-delay-duration') ?? 0) * 1000,
    audit: auditOptions(flags),
    ...apiServerOptions(flags),
    logLevel: logLevelOf(flags),
  };
}

/** Serves until a signal ends it. Resolves with the exit code. */
async function runServer(options: Omit<ServerOptions, 'onProgress'>): Promise<ExitCode> {
  const ended = firstSignal();
  raiseCompilerBudget();
  let progress: Progress | undefined;
  const started = await withProgress('Starting', (shown) => {
    progress = shown;
    return startServer({ ...options, onProgress: (text) => progress?.say(text) });
  }).catch((error: unknown) => explained(error, options));
  if (typeof started === 'number') process.exit(started);
  const { servers, prefix } = options.etcd;
  process.stdout.write(
    [
      `The API server is ready: ${started.url}`,
      '',
      `  version     ${version}`,
      `  etcd        ${servers.join(', ')}, keys under ${prefix}`,
      `  kubeconfig  ${options.kubeconfig ?? 'none'}`,
      '',
      'Ctrl-C stops this server; others go on.',
      '',
    ].join('\n'),
  );
  const signal = await ended;
  process.stdout.write(`\n${signal}: stopping\n`);
  await withProgress('Waiting for requests that have begun', () => started.stop());
  return exitCodes.success;
}

/** Says why. @throws an unexpected error */
function explained(error: unknown, options: Omit<ServerOptions, 'onProgress'>): ExitCode {
  const explanation = explainStartFailure(error, options);
  if (explanation === undefined) throw error;
  process.stderr.write(`moor server: ${explanation}\n`);
  return exitCodes.failure;
}
