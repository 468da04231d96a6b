import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Cluster, type ClusterOptions, startCluster } from '../cluster/cluster.ts';
import type { NodeRuntime } from '../cluster/nodes/cluster-nodes.ts';
import { storeKinds } from '../cluster/data-directory/data-manifest.ts';
import { version } from '../cluster/version.ts';
import { dataDirOf, defaultName, findRecord, readRecord, realPath } from '../cluster/life-cycle/cluster-record.ts';
import { removeRemains } from '../cluster/life-cycle/cluster-directory.ts';
import { leftoversIn } from '../cluster/life-cycle/tear-down.ts';
import { raiseCompilerBudget } from '../host/compiler-budget.ts';
import { isRunningProcess } from '../host/process-identity.ts';
import { firstSignal } from '../host/first-signal.ts';
import { createRealWorld } from '../host/world.ts';
import { auditFlags, auditOptions } from './audit-flags.ts';
import { cloudFlags, cloudOptions } from './cloud/cloud-flags.ts';
import { cloudEnvironment } from './cloud/environment.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { etcdFlags, etcdOptions } from './etcd/etcd-flags.ts';
import { nodeFlags, nodeOptions } from './node-flags.ts';
import { nameOf, wordsFor } from './life-cycle/cluster-argument.ts';
import { ownLogFile, report, startDetached } from './life-cycle/detach.ts';
import { summaryOf } from './life-cycle/list.ts';
import { privatePath, rootDirOf } from './private-path.ts';
import { imageFlags, imageOptions, imagesLine } from './images/image-flags.ts';
import { securityFlags, securityOptions } from './security-flags.ts';
import { apiServerFlags, apiServerOptions, csiEndpointFlag, csiEndpointsOf, logLevelFlag, logLevelOf, parseListen } from './shared-flags.ts';
import { explainStartFailure, isDamage } from './start-failure.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';
import { type Output, outputFlag, outputOf, printData } from './result/output.ts';
import { type Progress, withProgress } from './result/progress.ts';

/** `moor up`: a cluster in the foreground until a signal stops it, or in the background. */
export const upCommand: Command = {
  arguments: {
    usage: '[NAME]',
    about: `a name for the cluster, for several side by side: each has its own data directory and a free port; "${defaultName}" if there is none`,
    least: 0,
    most: 1,
  },
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
    {
      name: 'data-dir',
      value: 'DIR',
      about: 'the directory of the store, certificates, volumes and containers',
      default: `${dataDirOf(undefined, '~')}, or ${dataDirOf('NAME', '~')}`,
    },
    { name: 'detach', short: 'd', about: 'return when the cluster is ready; it goes on in the background, and "moor logs" shows its log' },
    { ...outputFlag, about: 'text, or json for programs: with --detach, what "moor status -o json" prints' },
    { name: 'ephemeral', about: 'remove everything at the end: pods, mounts and data; after a kill -9 the next "moor" does it' },
    {
      name: 'listen',
      value: 'HOST:PORT',
      about: 'the address to serve on; port 0 picks a free one',
      default: '127.0.0.1:6443; with a NAME, the port of its last start, or a free one',
    },
    { name: 'kubeconfig', value: 'FILE', about: 'written when the server is ready, readable by its owner only', default: 'DIR/kubeconfig' },
    {
      name: 'merge-kubeconfig',
      about: 'add to an existing kubeconfig and make "mooring" (or "mooring-NAME") its current context; without it a file with other entries is not changed',
    },
    { name: 'bootstrap-kubeconfig', value: 'FILE', about: 'also write a kubeconfig with which machines join as nodes, valid for two days' },
    {
      name: 'store',
      value: 'KIND',
      about: 'memory (lost at the end, implies --ephemeral), embedded (durable, in the data directory) or etcd (durable, on other machines)',
      oneOf: storeKinds,
      default: 'embedded',
    },
    ...etcdFlags,
    { name: 'bare', about: 'the control plane alone: no nodes unless --nodes asks for some, no StorageClasses; for test suites' },
    {
      name: 'runtime',
      value: 'KIND',
      about: 'how pods run: hollow (no processes) or sandbox (processes of this machine; Linux, root; fails where they cannot run)',
      oneOf: ['hollow', 'sandbox'],
      default: 'sandbox where possible, unless the flags below ask for nodes other than this machine',
    },
    ...nodeFlags,
    ...cloudFlags,
    {
      name: 'root-dir',
      value: 'DIR',
      about: 'the directory of volumes and CSI plugins, laid out as /var/lib/kubelet; containers see it there; for one sandbox node',
      default: 'DIR/nodes/NODE in the data directory',
    },
    ...imageFlags,
    ...securityFlags,
    csiEndpointFlag,
    { name: 'controllers', about: '=false: no controllers in this process; "moor controllers" runs them elsewhere', default: 'true' },
    { name: 'scheduler', about: '=false: no scheduler in this process; "moor scheduler" runs it elsewhere', default: 'as --controllers' },
    ...auditFlags,
    ...apiServerFlags,
    logLevelFlag,
  ],
  examples: [
    { line: 'moor up', about: 'a durable cluster for daily work' },
    { line: 'moor up shop --detach', about: 'another one beside it, in the background' },
    { line: 'moor up --runtime hollow', about: 'three hollow nodes' },
    { line: 'moor up --nodes 100 --zones a,b --node-capacity cpu=64,memory=256Gi --volume-limit 25', about: 'a larger cluster' },
    { line: 'moor up --csi-drivers ebs.csi.aws.com', about: 'volumes as in a cloud: zonal and attached, but without a backend' },
    { line: 'moor up --cloud aws --cloud-region eu-west-2', about: 'a cloud of its own: instances as nodes, disks with zones and limits' },
    { line: 'moor up --bare --store memory --listen 127.0.0.1:0 --kubeconfig ./kubeconfig', about: 'a throw-away API server for a test suite' },
    { line: 'moor up --store etcd --etcd-servers http://127.0.0.1:2379', about: 'the objects in an etcd cluster' },
    { line: 'moor up --kubeconfig ~/.kube/config --merge-kubeconfig', about: 'add a context "mooring" to your own kubeconfig' },
  ],
  run: (flags) => {
    if (outputOf(flags) === 'json' && !flags.on('detach'))
      throw new UsageError('-o json needs --detach: in the foreground "moor status -o json" says where the cluster is');
    return flags.on('detach') && ownLogFile() === undefined ? detached(clusterOptions(flags), outputOf(flags)) : runUp(clusterOptions(flags));
  },
};

/** A temporary directory is chosen here, for both processes. */
async function detached(options: ClusterOptions, output: Output): Promise<ExitCode> {
  const { dataDir = '', ephemeral } = options;
  const args = [...process.argv.slice(2), ...(ephemeral === true ? ['--data-dir', dataDir] : [])];
  const started = await withProgress('Starting', (progress) => startDetached(args, { logFile: path.join(dataDir, 'moor.log'), progress })).catch(
    (error: unknown) => startFailed(error, options),
  );
  if (typeof started === 'number') return started;
  const record = readRecord(dataDir);
  printData(output, record === undefined ? {} : await summaryOf(record), () => started.screen);
  return exitCodes.success;
}

export function clusterOptions(flags: FlagValues): ClusterOptions {
  const store = storeKinds.find((kind) => kind === flags.text('store')) ?? 'embedded';
  const ephemeral = flags.on('ephemeral') || store === 'memory';
  if (ephemeral && store === 'etcd') throw new UsageError('--ephemeral removes the data directory, and the objects in etcd would stay: leave it out');
  const given = flags.text('data-dir');
  const name = nameOf(flags) ?? (given === undefined && !ephemeral ? defaultName : undefined);
  const dataDir = privatePath('data-dir', dataDirFor(name, given ?? (ephemeral ? temporaryPath() : undefined)));
  const bootstrapKubeconfig = flags.text('bootstrap-kubeconfig');
  return {
    ...(name === undefined ? {} : { name }),
    dataDir,
    ephemeral,
    logFile: ownLogFile(),
    listen: listenOf(flags.text('listen'), name, dataDir),
    kubeconfig: privatePath('kubeconfig', flags.text('kubeconfig') ?? path.join(dataDir, 'kubeconfig')),
    mergeKubeconfig: flags.on('merge-kubeconfig'),
    ...(bootstrapKubeconfig === undefined ? {} : { bootstrapKubeconfig: privatePath('bootstrap-kubeconfig', bootstrapKubeconfig) }),
    store,
    etcd: etcdOptions(flags, store),
    bare: flags.on('bare'),
    nodes: nodeOptions(flags),
    cloud: cloudOptions(flags, { isMemory: store === 'memory' }),
    security: securityOptions(flags),
    images: imageOptions(flags),
    rootDir: rootDirOf(flags),
    runtime: runtimeOf(flags),
    csiEndpoints: csiEndpointsOf(flags),
    controllers: flags.text('controllers') !== 'false',
    scheduler: (flags.text('scheduler') ?? flags.text('controllers')) !== 'false',
    audit: auditOptions(flags),
    ...apiServerOptions(flags),
    logLevel: logLevelOf(flags),
  };
}

const temporaryPath = (): string => path.join(tmpdir(), `mooring-${randomUUID().slice(0, 8)}`);

/** @throws UsageError */
function dataDirFor(name: string | undefined, given: string | undefined): string {
  const found = name === undefined ? undefined : findRecord(name);
  // What a killed ephemeral cluster left is removed, and not continued.
  const known = found?.ephemeral === true && !isRunningProcess(found.process) ? undefined : found;
  if (given === undefined) return known?.dataDir ?? dataDirOf(name);
  const dataDir = realPath(given);
  if (known !== undefined && known.dataDir !== dataDir)
    throw new UsageError(`cluster "${name}" has its data in ${known.dataDir}; choose another name, or leave --data-dir out`);
  return dataDir;
}

/** The usual port belongs to the cluster without a name of its own. */
function listenOf(given: string | undefined, name: string | undefined, dataDir: string): { host: string; port: number } {
  if (given !== undefined) return parseListen(given);
  if (name === undefined || name === defaultName) return parseListen('127.0.0.1:6443');
  return { host: '127.0.0.1', port: Number(new URL(readRecord(dataDir)?.url || 'https://127.0.0.1:0').port) };
}

/** This machine is one node with its own facts: flags that ask for others mean hollow nodes. */
function runtimeOf(flags: FlagValues): NodeRuntime | 'where-possible' {
  const runtime = flags.text('runtime');
  if (runtime !== undefined) return runtime === 'sandbox' ? 'sandbox' : 'hollow';
  const asksForOthers = ['cloud', 'zones', 'region', 'node-capacity', 'volume-limit', 'csi-drivers'].some((name) => flags.text(name) !== undefined);
  return asksForOthers || flags.on('bare') || Number(flags.text('nodes') ?? 1) > 1 ? 'hollow' : 'where-possible';
}

/** Runs a cluster until a signal ends it. Resolves with the exit code. */
async function runUp(options: ClusterOptions): Promise<ExitCode> {
  // From the first moment: a signal during the start, or right after the ready screen, also leads to a clean stop.
  const ended = firstSignal({ keepsAlive: false });
  raiseCompilerBudget();
  let cluster: Cluster;
  let progress: Progress | undefined;
  let heard: NodeJS.Signals | undefined;
  let hasStarted = false;
  void ended.then((signal) => {
    heard = signal;
    progress?.say(`${signal}: stopping once it has started`);
  });
  const onProgress = (text: string): void => {
    if (hasStarted || heard === undefined) progress?.say(text);
    report({ waitsFor: text });
  };
  try {
    cluster = await withProgress('Starting', (shown) => {
      progress = shown;
      return startCluster({ ...options, onProgress });
    });
  } catch (error) {
    return startFailed(error, options);
  }
  hasStarted = true;
  if (heard === undefined) {
    const screen = readyScreen(cluster, options, await unseenMounts(cluster, options.dataDir ?? ''));
    process.stdout.write(screen);
    report({ screen });
  }
  const signal = await Promise.race([ended, cluster.dataRemoved]);
  if (signal === undefined) return endWithoutData(cluster, options.dataDir ?? '');
  process.stdout.write(`\n${signal}: stopping\n`);
  await withProgress('Waiting for requests and actions that have begun', (shown) => {
    progress = shown;
    return cluster.stop();
  });
  const words = wordsFor({ ...options, dataDir: options.dataDir ?? '' });
  const { mounts } = await leftoversIn(options.dataDir ?? '');
  if (mounts.length > 0) process.stdout.write(`Its pods keep running: "moor up${words}" goes on with them, "moor down${words}" ends them.\n`);
  return exitCodes.success;
}

/** Says why. @throws an unexpected error */
function startFailed(error: unknown, options: ClusterOptions): ExitCode {
  const explanation = explainStartFailure(error, options);
  if (explanation === undefined) throw error;
  const failure = `moor up: ${explanation}\n`;
  process.stderr.write(failure);
  report({ failure });
  return isDamage(error) ? exitCodes.notInOrder : exitCodes.failure;
}

/** The store would acknowledge writes to files that no start can find. */
async function endWithoutData(cluster: Cluster, dataDir: string): Promise<ExitCode> {
  process.stderr.write(`moor up: ${dataDir} was removed while the cluster ran, with all its data; stopping, and ending its pods\n`);
  // Whatever cannot be written on the way.
  await cluster.stop().catch(() => undefined);
  await removeRemains(dataDir, { world: createRealWorld({ logLevel: 'error' }) });
  return exitCodes.failure;
}

/** Of pods that an earlier start left running, on nodes that are hollow now. */
const unseenMounts = async ({ nodes }: Cluster, dataDir: string): Promise<number> =>
  nodes.runtime === 'hollow' ? (await leftoversIn(dataDir)).mounts.length : 0;

function readyScreen(cluster: Cluster, options: ClusterOptions, unseen: number): string {
  const words = wordsFor({ ...options, dataDir: options.dataDir ?? '' });
  const data = options.store === 'memory' ? 'in memory, lost when this process ends' : options.dataDir;
  const { servers = [], prefix } = options.etcd ?? {};
  return [
    `Mooring is ready: ${cluster.url}`,
    '',
    `  version     ${version}`,
    `  data        ${data}`,
    ...(options.etcd === undefined ? [] : [`  etcd        ${servers.join(', ')}, keys under ${prefix}`]),
    `  kubeconfig  ${cluster.kubeconfig}`,
    `  nodes       ${nodesLine(cluster)}`,
    ...(cluster.cloud === undefined ? [] : [`  cloud       ${cluster.cloud.region}, ${cluster.cloud.url}`]),
    ...(cluster.nodes.runtime === 'sandbox' && cluster.nodes.running.length > 0 ? [`  images      ${imagesLine(options.images?.source ?? 'host')}`] : []),
    ...(cluster.nodes.networkProblem === undefined
      ? []
      : [`  network     Services and NetworkPolicies do not work: ${firstLine(cluster.nodes.networkProblem)}`]),
    ...(cluster.nodes.why === undefined ? [] : [`  hollow      pods cannot run here: ${cluster.nodes.why}`]),
    ...(cluster.nodes.abandoned.length === 0 ? [] : [`  abandoned   ${abandonedLine(cluster.nodes.abandoned)}`]),
    ...(unseen === 0
      ? []
      : [`  left over   pods of an earlier start still run here, unseen by hollow nodes (${unseen} mounts): "moor down${words}" ends them`]),
    `  classes     ${classesLine(cluster.storageClasses)}`,
    '',
    ...(cluster.cloud === undefined ? [] : [`  ${cloudEnvironment(cluster.cloud)}`]),
    `  export KUBECONFIG=${cluster.kubeconfig}`,
    cluster.nodes.running.length === 0 ? '  kubectl get namespaces' : '  kubectl get nodes,storageclasses',
    '',
    ...howItEnds(options),
    '',
  ].join('\n');
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

function howItEnds(options: ClusterOptions): readonly string[] {
  const words = wordsFor({ ...options, dataDir: options.dataDir ?? '' });
  if (options.logFile !== undefined)
    return [`It runs in the background: "moor logs${words}" shows its log, "moor stop${words}" stops it, "moor down${words}" ends its pods too.`];
  return [options.ephemeral === true ? 'Ctrl-C stops the cluster and removes everything.' : 'Ctrl-C stops the cluster.'];
}

function nodesLine({ nodes: { running, runtime }, cloud }: Cluster): string {
  if (running.length === 0) return cloud === undefined ? 'none' : 'none: each instance of the cloud that is launched becomes one';
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
