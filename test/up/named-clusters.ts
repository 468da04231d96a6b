/** The commands of `moor` on clusters of a directory of their own, as a user gives them, with the real kubectl. */
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { root } from '../moor-process.ts';

export const moorScript = path.join(root, 'dist/main/moor.js');

export interface ListedCluster {
  readonly name: string | null;
  readonly status: string;
  readonly pid: number;
  readonly dataDir: string;
}

/** `state`: the directory of the clusters. It is known once tests run. */
export function clustersIn(state: () => string) {
  const env = (): NodeJS.ProcessEnv => ({
    ...process.env,
    XDG_STATE_HOME: state(),
    TMPDIR: state(),
    PATH: `${path.join(root, '.tools/bin')}:${process.env['PATH']}`,
  });
  const moor = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [moorScript, ...args], { env: env(), encoding: 'utf8' });
    return { code: status, stdout, stderr };
  };
  const kubectl = (kubeconfig: string, ...args: string[]): string =>
    execFileSync('kubectl', ['--kubeconfig', kubeconfig, ...args], { env: env(), encoding: 'utf8' });
  const apply = (kubeconfig: string, object: object): void =>
    void execFileSync('kubectl', ['--kubeconfig', kubeconfig, 'apply', '-f', '-'], { env: env(), input: JSON.stringify(object) });
  const clusters = () => JSON.parse(moor('list', '-o', 'json').stdout) as readonly ListedCluster[];
  const runPod = (kubeconfig: string): void => {
    apply(kubeconfig, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'app' },
      spec: { containers: [{ name: 'app', image: 'busybox', command: ['sleep', '1000'] }] },
    });
    kubectl(kubeconfig, 'wait', '--for=condition=Ready', 'pod/app', '--timeout=60s');
  };
  /** The directory of a new claim's volume, in a cluster without sandboxes. */
  const hostPathVolume = (name: string): string => {
    const kubeconfig = moor('kubeconfig', name, '--path').stdout.trim();
    apply(kubeconfig, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { storageClassName: 'immediate', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
    });
    kubectl(kubeconfig, 'wait', '--for=jsonpath={.status.phase}=Bound', 'pvc/data', '--timeout=60s');
    return kubectl(kubeconfig, 'get', 'pv', '-o', 'jsonpath={.items[0].spec.hostPath.path}');
  };
  return { env, moor, kubectl, apply, clusters, cluster: (name: string) => clusters().find((each) => each.name === name), runPod, hostPathVolume };
}
