/** Static pods: manifests in a directory of the node, with real containers. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Pod } from '../../src/api/generated/types.ts';
import { type MoorProcess, startMoor } from '../moor-process.ts';
import { describeWithSandboxes, endContainers } from './sandboxes.ts';

describeWithSandboxes('static pods', () => {
  let moor: MoorProcess;
  let dataDir = '';
  const args = ['--store', 'embedded', '--runtime', 'sandbox', '--nodes', '1', '--images', 'host'];
  beforeAll(async () => {
    dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-static-')));
    moor = await startMoor({ dataDir, args });
  });
  afterAll(async () => {
    await moor.stop();
    await endContainers(path.join(dataDir, 'nodes', 'node-1', 'sandbox'));
    rmSync(dataDir, { recursive: true, force: true });
  });

  const file = (): string => path.join(dataDir, 'nodes/node-1/manifests/web.yaml');
  const put = (variable: string): void => {
    const container = {
      name: 'app',
      image: 'host',
      command: ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.1; done'],
      env: [{ name: 'A', value: variable }],
    };
    writeFileSync(file(), JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [container] } }));
  };
  const find = async (): Promise<Pod | undefined> => {
    const { stdout } = await moor.kubectl('get', 'pod', 'web-node-1', '-o', 'json', '--ignore-not-found');
    return stdout === '' ? undefined : (JSON.parse(stdout) as Pod);
  };
  const until = async (holds: (pod: Pod | undefined) => boolean): Promise<Pod | undefined> => {
    let pod: Pod | undefined;
    await vi.waitUntil(async () => holds((pod = await find())), { timeout: 60_000, interval: 100 });
    return pod;
  };
  const runs = (pod: Pod | undefined): boolean => pod?.status.phase === 'Running';
  const valueOf = (pod: Pod | undefined): string | undefined => pod?.spec.containers?.[0]?.env?.[0]?.value;

  test('run, come back when they are deleted, follow their manifest, and end with it, also while no agent runs', async () => {
    put('first');
    const first = await until(runs);
    expect(first?.metadata.annotations).toMatchObject({ 'kubernetes.io/config.source': 'file' });
    expect(first?.metadata.ownerReferences).toMatchObject([{ kind: 'Node', name: 'node-1' }]);
    expect(await moor.kubectl('delete', 'pod', 'web-node-1', '--timeout=30s')).toMatchObject({ code: 0 });
    const second = await until((pod) => runs(pod) && pod?.metadata.uid !== first?.metadata.uid);
    put('changed');
    const third = await until((pod) => runs(pod) && valueOf(pod) === 'changed');
    expect(third?.metadata.uid).not.toBe(second?.metadata.uid);
    await moor.stop();
    rmSync(file());
    moor = await startMoor({ dataDir, args });
    await until((pod) => pod === undefined);
  });
});
