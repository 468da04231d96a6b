import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { rolldown } from 'rolldown';
import { afterAll, expect, test } from 'vitest';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { nodeKind } from '../../src/api/kinds/core/node.ts';
import { persistentVolumeClaimKind } from '../../src/api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../src/api/kinds/core/persistent-volume.ts';
import { secretKind } from '../../src/api/kinds/core/secret.ts';
import { serviceAccountKind } from '../../src/api/kinds/core/service-account.ts';
import { podKind } from '../../src/api/kinds/pod/pod.ts';
import { type Client, createClient, type Result } from '../../src/client/client.ts';
import { HttpTransport } from '../../src/client/http-transport.ts';
import { loadKubeconfig } from '../../src/client/http-transport-kubeconfig.ts';
import { startCluster } from '../../src/cluster/cluster.ts';
import { parseMountInfo } from '../../src/host/mount-info.ts';
import { createRealWorld } from '../../src/host/world.ts';
import type { AgentSettings } from './agent-process.ts';
import { describeWithMounts } from './permitted.ts';

const ok = <T>(result: Result<T>): T => {
  if (!result.ok) throw result.error;
  return result.value;
};
/** How often the agent is killed while it mounts, and while it unmounts. `KILLS=300`: npm run soak:kills. */
const kills = Number(process.env['KILLS'] ?? 8);
/** After this long, an agent on an idle machine has mounted everything. */
const latestMs = 48;

const inDefault = (name: string) => ({ namespace: 'default', name });
const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-kill-')));
const root = path.join(directory, 'node');
const mountedBelow = (place: string) =>
  parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8')).flatMap(({ target }) =>
    target.startsWith(`${place}/`) ? [target.slice(place.length + 1)] : [],
  );
afterAll(() => {
  // A test that fails may leave mounts: their data must not be removed with the directory.
  if (mountedBelow(directory).length === 0) rmSync(directory, { recursive: true, force: true });
});

/** An agent process and its output. */
class Agent {
  readonly #process: ChildProcess;
  readonly #said = new Set<string>();
  #onLine = (): void => undefined;

  constructor(program: string, settings: AgentSettings) {
    this.#process = spawn(process.execPath, [program, JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'inherit'], cwd: process.cwd() });
    if (this.#process.stdout === null) throw new Error('its output is not read');
    createInterface({ input: this.#process.stdout }).on('line', (line) => {
      this.#said.add(line);
      this.#onLine();
    });
  }

  says(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#process.once('exit', () => reject(new Error(`the agent ended before it said "${line}"`)));
      this.#onLine = () => (this.#said.has(line) ? resolve() : undefined);
      this.#onLine();
    });
  }

  async kill(): Promise<void> {
    const ended = new Promise((resolve) => void this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await ended;
  }
}

async function prepare(client: Client): Promise<string> {
  mkdirSync(path.join(directory, 'disk'));
  writeFileSync(path.join(directory, 'disk', 'precious'), 'data');
  ok(await client.create(serviceAccountKind, { metadata: inDefault('default') }));
  ok(await client.create(nodeKind, { metadata: { name: 'node-1', labels: { here: 'yes' } } }));
  ok(await client.create(configMapKind, { metadata: inDefault('settings'), data: { a: '1', b: '2' } }));
  ok(await client.create(secretKind, { metadata: inDefault('password'), data: { password: 'c2VjcmV0' } }));
  const claim = ok(
    await client.create(persistentVolumeClaimKind, {
      metadata: inDefault('data'),
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } }, storageClassName: '', volumeName: 'data' },
    }),
  );
  const terms = [{ matchExpressions: [{ key: 'here', operator: 'In', values: ['yes'] }] }];
  ok(
    await client.create(persistentVolumeKind, {
      metadata: { name: 'data' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteMany'],
        local: { path: path.join(directory, 'disk') },
        nodeAffinity: { required: { nodeSelectorTerms: terms } },
        claimRef: { kind: 'PersistentVolumeClaim', ...inDefault('data'), uid: claim.metadata.uid ?? '' },
      },
    }),
  );
  ok(await client.updateStatus(persistentVolumeClaimKind, { ...claim, status: { phase: 'Bound' } }));
  const volumes = [
    { name: 'scratch', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'password', secret: { secretName: 'password' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'frozen', persistentVolumeClaim: { claimName: 'data', readOnly: true } },
  ];
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const spec = { nodeName: 'node-1', automountServiceAccountToken: false, containers: [{ name: 'app', image: 'image', volumeMounts }], volumes };
  return ok(await client.create(podKind, { metadata: inDefault('web'), spec })).metadata.uid ?? '';
}

describeWithMounts(import.meta.url, () => {
  test(
    'an agent that is killed again and again while it mounts and unmounts loses nothing and leaves nothing',
    async () => {
      const program = path.join(process.cwd(), 'node_modules', `.moor-agent-${process.pid}.mjs`);
      const bundle = await rolldown({ input: 'test/mounts/agent-process.ts', platform: 'node', external: /^[^./]/ });
      await bundle.write({ file: program });
      await using cluster = await startCluster({ bare: true, controllers: false, scheduler: false });
      const client = createClient({
        transport: new HttpTransport({ access: loadKubeconfig(cluster.kubeconfig, {}), world: createRealWorld({ logLevel: 'silent' }), userAgent: 'test' }),
      });
      const uid = await prepare(client);
      const settings = { kubeconfig: cluster.kubeconfig, root, vacated: path.join(directory, 'vacated') };
      writeFileSync(settings.vacated, '');
      const life = async (afterMs: number) => {
        const agent = new Agent(program, settings);
        await agent.says('working');
        await new Promise((resolve) => void setTimeout(resolve, afterMs));
        await agent.kill();
      };

      try {
        for (let n = 0; n < kills; n++) await life((n * 3) % latestMs);
        const last = new Agent(program, settings);
        await last.says('mounted');
        const expected = ['empty-dir/memory', 'secret/password', 'local-volume/data', 'local-volume/data~frozen'];
        expect(mountedBelow(`${root}/pods/${uid}/volumes`).sort()).toEqual(expected.map((each) => `kubernetes.io~${each}`).sort());
        await last.kill();

        writeFileSync(settings.vacated, uid);
        for (let n = 0; n < kills; n++) await life((n * 3) % latestMs);
        const cleaner = new Agent(program, settings);
        await cleaner.says('vacant');
        expect(mountedBelow(root)).toEqual([]);
        await cleaner.kill();
        expect(readdirSync(path.join(directory, 'disk'))).toEqual(['precious']);
      } finally {
        rmSync(program, { force: true });
      }
    },
    120_000 + kills * 10_000,
  );
});
