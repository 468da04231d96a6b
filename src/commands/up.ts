import { homedir } from 'node:os';
import path from 'node:path';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { auditFlags, auditOptions } from '../cluster/apiserver/audit-options.ts';
import type { NodeRuntime } from '../cluster/nodes/cluster-nodes.ts';
import type { ClusterOptions } from '../cluster/cluster.ts';
import { nodeFlags, nodeOptions } from './node-flags.ts';

/** `moor up`: a cluster in the foreground until it is told to stop. */
export const upCommand: Command = {
  name: 'up',
  summary: 'start a cluster in the foreground',
  about: `Starts the API server, its controllers and nodes in this process and serves the Kubernetes API over HTTPS.
The first start makes certificates, a data directory and two storage classes; later ones go on where the last one
stopped, however that ended. Ctrl-C stops it cleanly; so does SIGTERM.

Where it can (Linux, root, namespaces), this machine is the one node: pods are processes in sandboxes over its files, with
their volumes really mounted. Containers go on when this ends, and the next start finds them. Where it cannot, or if any
of --nodes (more than one), --zones, --region, --node-capacity, --volume-limit or --csi-drivers is given, nodes are
hollow; the screen says which, and why. --runtime decides it in any case; --bare has no nodes unless asked.

On hollow nodes pods live as anywhere else (scheduled, volumes attached and waited for, statuses, events, grace),
but nothing runs: annotations say how long a container runs and how it ends (docs/EXTENSIONS.md).

Nodes keep their names over a new start. With other flags: zone, region, capacity and drivers of a node become what the
flags say; labels and taints that you gave it stay; with fewer --nodes nobody runs the rest, which become NotReady until
you delete them or start with more again. A node that you delete comes back with the next start.`,
  flags: [
    { name: 'data-dir', value: 'DIR', about: 'where everything is kept', default: defaultDataDir('~') },
    { name: 'listen', value: 'HOST:PORT', about: 'the address to serve on; port 0 picks a free one', default: '127.0.0.1:6443' },
    { name: 'kubeconfig', value: 'FILE', about: 'written once the server is ready, readable by you alone', default: 'DIR/kubeconfig' },
    {
      name: 'merge-kubeconfig',
      about: 'add to an existing kubeconfig and make "mooring" its current context; without it a file that others share is left alone',
    },
    { name: 'bootstrap-kubeconfig', value: 'FILE', about: 'also write one for machines that are to become nodes, good for two days' },
    { name: 'store', value: 'KIND', about: 'memory (gone at the end) or embedded (durable)', oneOf: ['memory', 'embedded'], default: 'embedded' },
    { name: 'bare', about: 'the control plane alone: no nodes unless --nodes asks for some, no storage classes; for test suites' },
    {
      name: 'runtime',
      value: 'KIND',
      about: 'what pods are: hollow (nothing runs) or sandbox (processes of this machine; Linux, root)',
      oneOf: ['hollow', 'sandbox'],
      default: 'sandbox where it can be, unless flags below ask for nodes that this machine is not',
    },
    ...nodeFlags,
    { name: 'controllers', about: '=false: the server alone; "moor controllers" runs them elsewhere', default: 'true' },
    { name: 'scheduler', about: '=false: no scheduler; "moor scheduler" runs it elsewhere', default: 'as --controllers' },
    ...auditFlags,
    {
      name: 'encryption-provider-config',
      value: 'FILE',
      about: 'an EncryptionConfiguration of apiserver.config.k8s.io/v1: what is encrypted in the store',
      default: 'nothing is',
    },
    { name: 'plain', about: 'hide every extension to the Kubernetes API' },
    {
      name: 'log-level',
      value: 'LEVEL',
      about: 'debug, info, warn or error; JSON lines on standard error',
      oneOf: ['debug', 'info', 'warn', 'error'],
      default: 'info',
    },
  ],
  examples: [
    { line: 'moor up', about: 'a durable cluster for daily work' },
    { line: 'moor up --runtime hollow', about: 'three nodes on which nothing runs' },
    { line: 'moor up --nodes 100 --zones a,b --node-capacity cpu=64,memory=256Gi --volume-limit 25', about: 'a larger one' },
    { line: 'moor up --csi-drivers ebs.csi.aws.com', about: 'volumes as a cloud has them: zonal and attached, with nothing behind them' },
    { line: 'moor up --bare --store memory --listen 127.0.0.1:0 --kubeconfig ./kubeconfig', about: 'a throw-away API server for a test suite' },
    { line: 'moor up --kubeconfig ~/.kube/config --merge-kubeconfig', about: 'add a context "mooring" to your own kubeconfig' },
  ],
  run: async (flags) => {
    const options = clusterOptions(flags);
    // Loaded here, so that `moor --help` does not wait for a server it will not start.
    const { runUp } = await import('./run-up.ts');
    return runUp(options);
  },
};

export function clusterOptions(flags: FlagValues): ClusterOptions {
  const dataDir = path.resolve(flags.text('data-dir') ?? defaultDataDir(homedir()));
  const bootstrapKubeconfig = flags.text('bootstrap-kubeconfig');
  return {
    dataDir,
    listen: parseListen(flags.text('listen') ?? '127.0.0.1:6443'),
    kubeconfig: path.resolve(flags.text('kubeconfig') ?? path.join(dataDir, 'kubeconfig')),
    mergeKubeconfig: flags.on('merge-kubeconfig'),
    ...(bootstrapKubeconfig === undefined ? {} : { bootstrapKubeconfig: path.resolve(bootstrapKubeconfig) }),
    store: flags.text('store') === 'memory' ? 'memory' : 'embedded',
    bare: flags.on('bare'),
    nodes: nodeOptions(flags),
    runtime: runtimeOf(flags),
    plain: flags.on('plain'),
    controllers: flags.text('controllers') !== 'false',
    scheduler: (flags.text('scheduler') ?? flags.text('controllers')) !== 'false',
    audit: auditOptions(flags),
    encryptionConfig: resolved(flags.text('encryption-provider-config')),
    logLevel: (flags.text('log-level') as ClusterOptions['logLevel']) ?? 'info',
  };
}

/** This machine is one node, as it is: who asks for others means hollow ones. */
function runtimeOf(flags: FlagValues): NodeRuntime {
  const said = flags.text('runtime');
  if (said !== undefined) return said === 'sandbox' ? 'sandbox' : 'hollow';
  const asksForOthers = ['zones', 'region', 'node-capacity', 'volume-limit', 'csi-drivers'].some((name) => flags.text(name) !== undefined);
  return asksForOthers || flags.on('bare') || Number(flags.text('nodes') ?? 1) > 1 ? 'hollow' : 'sandbox';
}

const resolved = (file: string | undefined): string | undefined => (file === undefined ? undefined : path.resolve(file));

/** 'HOST:PORT', '[::1]:PORT', ':PORT' (loopback) or 'PORT'. */
export function parseListen(text: string): { host: string; port: number } {
  const match = /^(?:(?:\[([^\]]+)\]|([^:[\]]*)):)?(\d+)$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new UsageError(`--listen wants HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:6443, not "${text}"`);
  return { host: match[1] ?? (match[2] || '127.0.0.1'), port };
}

export function defaultDataDir(home: string): string {
  return path.join(process.env['XDG_STATE_HOME'] || path.join(home, '.local', 'state'), 'mooring');
}
