import { UnreadableValue } from '../server/at-rest/encrypted-store.ts';
import { ConfigFileError } from '../server/configuration/config-file.ts';
import { StoreError } from '../store/contract.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
import { firstSignal } from './first-signal.ts';
import { KubeconfigInUse } from './kubeconfig-file.ts';
import { version } from './version.ts';

/** Runs a cluster until a signal ends it. Resolves with the exit code. */
export async function runUp(options: ClusterOptions): Promise<number> {
  // From the first moment: who ends it while it starts, or as soon as it says that it is ready, ends it cleanly.
  const ended = firstSignal({ keepsAlive: false });
  let cluster: Cluster;
  try {
    cluster = await startCluster(options);
  } catch (error) {
    const said = explain(error, options);
    if (said === undefined) throw error;
    process.stderr.write(`moor up: ${said}\n`);
    return 1;
  }
  process.stdout.write(readyScreen(cluster, options));
  const signal = await ended;
  process.stdout.write(`\n${signal}: stopping\n`);
  await cluster.stop();
  return 0;
}

function readyScreen(cluster: Cluster, options: ClusterOptions): string {
  const data = options.store === 'memory' ? 'in memory, gone when this ends' : options.dataDir;
  return [
    `Mooring is ready: ${cluster.url}`,
    '',
    `  version     ${version}`,
    `  data        ${data}`,
    `  kubeconfig  ${cluster.kubeconfig}`,
    `  nodes       ${nodesLine(cluster.nodes)}`,
    ...(cluster.nodes.why === undefined ? [] : [`  hollow      pods do not run here: ${cluster.nodes.why}`]),
    ...(cluster.nodes.abandoned.length === 0 ? [] : [`  abandoned   ${abandonedLine(cluster.nodes.abandoned)}`]),
    `  classes     ${classesLine(cluster.storageClasses)}`,
    '',
    `  export KUBECONFIG=${cluster.kubeconfig}`,
    cluster.nodes.running.length === 0 ? '  kubectl get namespaces' : '  kubectl get nodes,storageclasses',
    '',
    'Ctrl-C stops it.',
    '',
  ].join('\n');
}

function nodesLine({ running, runtime }: ClusterNodes): string {
  if (running.length === 0) return 'none';
  const shown = running.slice(0, 3).map(({ name, zone }) => (zone === undefined ? name : `${name} (${zone})`));
  const more = running.length > shown.length ? ` and ${running.length - shown.length} more` : '';
  const what = runtime === 'hollow' ? 'hollow, nothing runs on them' : 'on this machine, pods run in sandboxes';
  return `${running.length} ${what}: ${shown.join(', ')}${more}`;
}

function classesLine(classes: Cluster['storageClasses']): string {
  if (classes.length === 0) return 'none';
  const shown = classes.slice(0, 5).map(({ name, isDefault }) => (isDefault ? `${name} (default)` : name));
  return classes.length > shown.length ? `${shown.join(', ')} and ${classes.length - shown.length} more` : shown.join(', ');
}

function abandonedLine(names: readonly string[]): string {
  const shown = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
  return `${shown} of an earlier start: nobody runs them now, and they become NotReady (kubectl delete node, or more --nodes)`;
}

/** What went wrong, and what would be right; undefined: nobody foresaw it. */
function explain(error: unknown, options: ClusterOptions): string | undefined {
  if (error instanceof KubeconfigInUse || error instanceof ConfigFileError) return error.message;
  if (error instanceof UnreadableValue) return `${error.message}. Start with an --encryption-provider-config that has that key.`;
  if (error instanceof StoreError) return explainStore(error, options);
  const { code } = error as NodeJS.ErrnoException;
  const address = `${options.listen?.host}:${options.listen?.port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `${address} is taken by another program. Stop it, or choose another port with --listen (port 0 picks a free one).`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${address} is no address of this machine. Choose one with --listen, such as 127.0.0.1:6443.`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${(error as Error).message}. Choose a directory you may write with --data-dir, and a port above 1023 with --listen.`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk that holds ${options.dataDir} is full. Make room, or choose another directory with --data-dir.`;
    case 'ENOENT':
      return `${(error as Error).message}.`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${options.dataDir} cannot be used as a directory. Choose another one with --data-dir.`;
    default:
      return undefined;
  }
}

function explainStore(error: StoreError, { dataDir }: ClusterOptions): string | undefined {
  switch (error.code) {
    case 'locked':
      return `${dataDir} is in use by another moor (${error.message}). Stop that one, or choose another directory with --data-dir.`;
    case 'newer-version':
      return `the data in ${dataDir} was written by a newer version of Mooring than this one (${version}): ${error.message}. Use that version, or another --data-dir.`;
    case 'corrupt':
      return `the data in ${dataDir} is damaged and was left as it is: ${error.message}. Restore it from a copy, or choose another --data-dir.`;
    case 'full':
      return `the disk that holds ${dataDir} is full. Make room, or choose another directory with --data-dir.`;
    case 'failed':
      return `the disk that holds ${dataDir} failed: ${error.message}.`;
    case 'compacted':
    case 'future':
    case 'closed':
      return undefined;
  }
}
