import type { ClusterNodes } from '../cluster/nodes/cluster-nodes.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../cluster/cluster.ts';
import { firstSignal } from '../host/first-signal.ts';
import { explainStartFailure } from './start-failure.ts';
import { version } from '../cluster/version.ts';

/** Runs a cluster until a signal ends it. Resolves with the exit code. */
export async function runUp(options: ClusterOptions): Promise<number> {
  // From the first moment: who ends it while it starts, or as soon as it says that it is ready, ends it cleanly.
  const ended = firstSignal({ keepsAlive: false });
  let cluster: Cluster;
  try {
    cluster = await startCluster(options);
  } catch (error) {
    const said = explainStartFailure(error, options);
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
