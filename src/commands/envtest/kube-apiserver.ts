import { storageClassKind } from '../../api/kinds/storage/storage-class.ts';
import { createClient } from '../../client/client.ts';
import { HttpTransport } from '../../client/http-transport.ts';
import { loadKubeconfig } from '../../client/http-transport-kubeconfig.ts';
import { type Cluster, startCluster } from '../../cluster/cluster.ts';
import { version } from '../../cluster/version.ts';
import { raiseCompilerBudget } from '../../host/compiler-budget.ts';
import { firstSignal } from '../../host/first-signal.ts';
import { createRealWorld } from '../../host/world.ts';
import { type Command, type FlagValues } from '../command.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { readArguments } from './apiserver-flags.ts';
import { clusterOf, type ControllerLevel, controllersFlag, hollowDriverName, levels, usualLevel } from './controller-level.ts';

/** `moor envtest kube-apiserver`: a cluster in memory that takes the command line of kube-apiserver. */
export const kubeApiServerCommand: Command = {
  about: `Serves the Kubernetes API with the certificates that envtest made, and runs the controllers of --controllers beside it. Objects
are kept in memory. ARGS are flags of kube-apiserver; those that mean nothing here are named on standard error, and what cannot
be honoured is refused. SIGTERM ends it.`,
  arguments: { usage: '-- ARGS', about: 'flags of kube-apiserver', least: 0, most: Number.POSITIVE_INFINITY },
  flags: [controllersFlag],
  examples: [{ line: 'moor envtest kube-apiserver --controllers all -- --cert-dir=DIR --secure-port=6443', about: 'as the script of moor envtest install' }],
  run: (flags) => runKubeApiServer(flags),
};

const help = `kube-apiserver, as Mooring ${version} runs it for envtest

Flags:
      --bind-address ip
      --cert-dir string
      --client-ca-file string
      --disable-admission-plugins strings
      --secure-port int
      --tls-cert-file string
      --tls-private-key-file string
`;

async function runKubeApiServer(flags: FlagValues): Promise<ExitCode> {
  // envtest asks which flags there are.
  if (flags.arguments.includes('--help') || flags.arguments.includes('-h')) {
    process.stdout.write(help);
    return exitCodes.success;
  }
  const { unused, ...options } = readArguments(flags.arguments);
  if (unused.length > 0) process.stderr.write(`kube-apiserver of Mooring does not use ${unused.map((name) => `--${name}`).join(', ')}\n`);
  const level = levels.find((each) => each === flags.text('controllers')) ?? usualLevel;
  const ended = firstSignal();
  raiseCompilerBudget();
  const cluster = await startCluster({ ...options, ...clusterOf(level), store: 'memory', runtime: 'hollow', plain: true, dashboard: false });
  try {
    await createDefaultClass(cluster, level);
    await ended;
  } finally {
    await cluster.stop();
  }
  return exitCodes.success;
}

/** Without a scheduler no volume could wait for its first consumer: they are provisioned at once, by a driver without disks. */
async function createDefaultClass({ kubeconfig, url }: Cluster, level: ControllerLevel): Promise<void> {
  if (level === 'bare' || level === 'all') return;
  const { cert, key } = loadKubeconfig(kubeconfig, {});
  // The serving certificate is that of the suite, whose authority the kubeconfig does not have.
  const access = { url, insecure: true, ...(cert === undefined || key === undefined ? {} : { cert, key }) };
  const transport = new HttpTransport({ access, world: createRealWorld({ logLevel: 'warn' }), userAgent: `moor/${version} envtest` });
  const created = await createClient({ transport }).create(storageClassKind, {
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: hollowDriverName,
    volumeBindingMode: 'Immediate',
    allowVolumeExpansion: true,
  });
  transport.close();
  if (!created.ok) throw created.error;
}
