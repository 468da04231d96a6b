import { homedir } from 'node:os';
import path from 'node:path';
import { type Cluster, type ClusterOptions, startCluster } from '../cluster/cluster.ts';
import type { ClusterNodes, NodeRuntime } from '../cluster/nodes/cluster-nodes.ts';
import { version } from '../cluster/version.ts';
import { firstSignal } from '../host/first-signal.ts';
import { auditFlags, auditOptions } from './audit-flags.ts';
import type { Command, FlagValues } from './command.ts';
import { nodeFlags, nodeOptions } from './node-flags.ts';
import { defaultDataDir, logLevelFlag, parseListen } from './shared-flags.ts';
import { damagedExitCode, explainStartFailure, isDamage } from './start-failure.ts';

/** `moor up`: a cluster in the foreground until a signal stops it. */
export const upCommand: Command = {
  about: `Starts the API server, its controllers and nodes in this process and serves the Kubernetes API over HTTPS.
The first start creates certificates, a data directory and two StorageClasses. Later starts continue with the same data,
however the last one ended. Ctrl-C and SIGTERM stop it cleanly.

Where possible (Linux, root, namespaces), this machine is the one node: pods are processes in sandboxes over its files, with
their volumes really mounted. Containers keep running when this process ends, and the next start finds them. Where that is
impossible, or if any of --nodes (more than one), --zones, --region, --node-capacity, --volume-limit or --csi-drivers is
given, nodes are hollow; the ready screen says which, and why. --runtime overrides this; --bare has no nodes by default.

On hollow nodes pods behave as on any other (scheduling, attached volumes, statuses, events, grace periods), but no process
runs: annotations say how long a container runs and how it ends (docs/EXTENSIONS.md).

Nodes keep their names over a restart. With other flags, a node's zone, region, capacity and drivers become what the flags
say; labels and taints that you set stay. With fewer --nodes the others become NotReady until you delete them or start with
more nodes again. A node that you delete is registered again at the next start.

The exit code is 3 if the data directory is damaged: "moor store repair" states what would be lost (docs/DATA-DIRECTORY.md).`,
  flags: [
    { name: 'data-dir', value: 'DIR', about: 'the directory of the store, certificates, volumes and containers', default: defaultDataDir('~') },
    { name: 'listen', value: 'HOST:PORT', about: 'the address to serve on; port 0 picks a free one', default: '127.0.0.1:6443' },
    { name: 'kubeconfig', value: 'FILE', about: 'written when the server is ready, readable by its owner only', default: 'DIR/kubeconfig' },
    {
      name: 'merge-kubeconfig',
      about: 'add to an existing kubeconfig and make "mooring" its current context; without it a file with other entries is not changed',
    },
    { name: 'bootstrap-kubeconfig', value: 'FILE', about: 'also write a kubeconfig with which machines join as nodes, valid for two days' },
    { name: 'store', value: 'KIND', about: 'memory (lost at the end) or embedded (durable)', oneOf: ['memory', 'embedded'], default: 'embedded' },
    { name: 'bare', about: 'the control plane alone: no nodes unless --nodes asks for some, no StorageClasses; for test suites' },
    {
      name: 'runtime',
      value: 'KIND',
      about: 'how pods run: hollow (no processes) or sandbox (processes of this machine; Linux, root)',
      oneOf: ['hollow', 'sandbox'],
      default: 'sandbox where possible, unless the flags below ask for nodes other than this machine',
    },
    ...nodeFlags,
    { name: 'controllers', about: '=false: no controllers in this process; "moor controllers" runs them elsewhere', default: 'true' },
    { name: 'scheduler', about: '=false: no scheduler in this process; "moor scheduler" runs it elsewhere', default: 'as --controllers' },
    ...auditFlags,
    {
      name: 'encryption-provider-config',
      value: 'FILE',
      about: 'an EncryptionConfiguration of apiserver.config.k8s.io/v1: which resources are encrypted at rest',
      default: 'no encryption',
    },
    { name: 'plain', about: 'hide every extension to the Kubernetes API' },
    logLevelFlag,
  ],
  examples: [
    { line: 'moor up', about: 'a durable cluster for daily work' },
    { line: 'moor up --runtime hollow', about: 'three hollow nodes' },
    { line: 'moor up --nodes 100 --zones a,b --node-capacity cpu=64,memory=256Gi --volume-limit 25', about: 'a larger cluster' },
    { line: 'moor up --csi-drivers ebs.csi.aws.com', about: 'volumes as in a cloud: zonal and attached, but without a backend' },
    { line: 'moor up --bare --store memory --listen 127.0.0.1:0 --kubeconfig ./kubeconfig', about: 'a throw-away API server for a test suite' },
    { line: 'moor up --kubeconfig ~/.kube/config --merge-kubeconfig', about: 'add a context "mooring" to your own kubeconfig' },
  ],
  run: (flags) => runUp(clusterOptions(flags)),
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

/** This machine is one node with its own facts: flags that ask for others mean hollow nodes. */
function runtimeOf(flags: FlagValues): NodeRuntime {
  const runtime = flags.text('runtime');
  if (runtime !== undefined) return runtime === 'sandbox' ? 'sandbox' : 'hollow';
  const asksForOthers = ['zones', 'region', 'node-capacity', 'volume-limit', 'csi-drivers'].some((name) => flags.text(name) !== undefined);
  return asksForOthers || flags.on('bare') || Number(flags.text('nodes') ?? 1) > 1 ? 'hollow' : 'sandbox';
}

const resolved = (file: string | undefined): string | undefined => (file === undefined ? undefined : path.resolve(file));

/** Runs a cluster until a signal ends it. Resolves with the exit code. */
async function runUp(options: ClusterOptions): Promise<number> {
  // From the first moment: a signal during the start, or right after the ready screen, also leads to a clean stop.
  const ended = firstSignal({ keepsAlive: false });
  let cluster: Cluster;
  try {
    cluster = await startCluster(options);
  } catch (error) {
    const explanation = explainStartFailure(error, options);
    if (explanation === undefined) throw error;
    process.stderr.write(`moor up: ${explanation}\n`);
    return isDamage(error) ? damagedExitCode : 1;
  }
  process.stdout.write(readyScreen(cluster, options));
  const signal = await ended;
  process.stdout.write(`\n${signal}: stopping\n`);
  await cluster.stop();
  return 0;
}

function readyScreen(cluster: Cluster, options: ClusterOptions): string {
  const data = options.store === 'memory' ? 'in memory, lost when this process ends' : options.dataDir;
  return [
    `Mooring is ready: ${cluster.url}`,
    '',
    `  version     ${version}`,
    `  data        ${data}`,
    `  kubeconfig  ${cluster.kubeconfig}`,
    `  nodes       ${nodesLine(cluster.nodes)}`,
    ...(cluster.nodes.why === undefined ? [] : [`  hollow      pods cannot run here: ${cluster.nodes.why}`]),
    ...(cluster.nodes.abandoned.length === 0 ? [] : [`  abandoned   ${abandonedLine(cluster.nodes.abandoned)}`]),
    `  classes     ${classesLine(cluster.storageClasses)}`,
    '',
    `  export KUBECONFIG=${cluster.kubeconfig}`,
    cluster.nodes.running.length === 0 ? '  kubectl get namespaces' : '  kubectl get nodes,storageclasses',
    '',
    'Ctrl-C stops the cluster.',
    '',
  ].join('\n');
}

function nodesLine({ running, runtime }: ClusterNodes): string {
  if (running.length === 0) return 'none';
  const shown = running.slice(0, 3).map(({ name, zone }) => (zone === undefined ? name : `${name} (${zone})`));
  const more = running.length > shown.length ? ` and ${running.length - shown.length} more` : '';
  const how = runtime === 'hollow' ? 'hollow, nothing runs on them' : 'on this machine, pods run in sandboxes';
  return `${running.length} ${how}: ${shown.join(', ')}${more}`;
}

function classesLine(classes: Cluster['storageClasses']): string {
  if (classes.length === 0) return 'none';
  const shown = classes.slice(0, 5).map(({ name, isDefault }) => (isDefault ? `${name} (default)` : name));
  return classes.length > shown.length ? `${shown.join(', ')} and ${classes.length - shown.length} more` : shown.join(', ');
}

function abandonedLine(names: readonly string[]): string {
  const shown = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
  return `${shown} of an earlier start: they do not run now and become NotReady (kubectl delete node, or more --nodes)`;
}
