/** A real `moor up` whose one node runs containers on this machine, for drivers and sidecars that are processes beside it. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';
import { endContainers } from '../sandbox/sandboxes.ts';

export interface PeerCluster {
  readonly dataDir: string;
  /** The node's directory: the kubelet's /var/lib/kubelet. */
  readonly nodeRoot: string;
  readonly kubeconfig: string;
  /** The server's log since its last start. */
  output(): string;
  /** The output of kubectl, which has to succeed. */
  readonly kubectl: (...args: string[]) => Promise<string>;
  apply(...items: object[]): Promise<void>;
  /** Runs the pod to its end, removes it, and returns what it said. */
  run(pod: object & { readonly metadata: { readonly name: string } }): Promise<string>;
  /** `kill -9` of the server and the agent, which are one process, and a new start on the same data. */
  restart(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export const nodeName = 'node-1';

export async function startPeerCluster(): Promise<PeerCluster> {
  const dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-peers-')));
  const start = (): Promise<MoorProcess> => startMoor({ dataDir, bare: false, args: ['--runtime', 'sandbox', '--nodes', '1'] });
  let moor = await start();
  const nodeRoot = path.join(dataDir, 'nodes', nodeName);
  const kubectl = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await moor.kubectl(...args);
    expect(code, `kubectl ${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  };
  const apply = async (...items: object[]): Promise<void> => {
    expect(await moor.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '-f', '-')).toMatchObject({ code: 0 });
  };
  return {
    dataDir,
    nodeRoot,
    kubeconfig: moor.kubeconfig,
    output: () => moor.output(),
    kubectl,
    apply,
    run: async (pod) => {
      const { name } = pod.metadata;
      await apply(pod);
      try {
        await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', `pod/${name}`, '--timeout=120s');
      } catch (error) {
        throw new Error(`${await kubectl('describe', 'pod', name)}\n${moor.output().slice(-4000)}`, { cause: error });
      }
      const said = await kubectl('logs', name);
      await kubectl('delete', 'pod', name, '--timeout=120s');
      return said;
    },
    restart: async () => {
      await moor.stop('SIGKILL');
      moor = await start();
    },
    [Symbol.asyncDispose]: async () => {
      await moor.stop();
      await endContainers(path.join(nodeRoot, 'sandbox'));
      expect(mountsBelow(dataDir)).toEqual([]);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The mounts of this machine whose target or source has the text. */
export const mountsBelow = (text: string): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(text));
