/** A real PostgreSQL in a StatefulSet, from a registry: its data survives the deletion of its pod, `kill -9` of the database, and `kill -9` of the node. */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type MoorProcess, runMoor, startMoor } from '../moor-process.ts';
import { describeWithSandboxes } from '../sandbox/sandboxes.ts';
import { postgresqlImage, postgresqlPackage } from './postgresql-image.ts';
import { testRegistry } from './registry-server.ts';

const statefulSet = (image: string) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db' },
  spec: {
    serviceName: 'db',
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' } },
      spec: {
        securityContext: { fsGroup: 1001, runAsNonRoot: true, runAsUser: 1000 },
        containers: [
          {
            name: 'postgres',
            image,
            readinessProbe: { exec: { command: ['pg_isready', '-h', '/tmp', '-U', 'postgres'] }, periodSeconds: 1 },
            volumeMounts: [{ name: 'data', mountPath: '/var/lib/postgresql/data' }],
          },
        ],
      },
    },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } } }],
  },
});

/** On the host: the first process of a namespace is only killed from outside of it. */
function serverOf(pod: string, bin: string): number {
  const read = (pid: string, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      return '';
    }
  };
  const isServer = (pid: string): boolean => read(pid, 'cmdline').startsWith(`${bin}/postgres\0-D\0`) && read(pid, 'cgroup').includes(`pod-${pod}`);
  const parentOf = (pid: string): string => /^PPid:\s*(\d+)$/m.exec(read(pid, 'status'))?.[1] ?? '';
  const matches = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isServer(name));
  // A backend has the command line of the server that forked it until it sets its title; one that has ended since has no parent.
  const servers = matches.filter((pid) => parentOf(pid) !== '' && !matches.includes(parentOf(pid)));
  expect(servers).toHaveLength(1);
  return Number(servers[0]);
}

const patience = { timeout: 60_000 };
const found = postgresqlPackage();
if (found === undefined) {
  test('PostgreSQL is not tested: scripts/setup could not unpack it', () => expect(found).toBeUndefined());
} else {
  describeWithSandboxes('PostgreSQL in a StatefulSet', () => {
    test('keeps its data when its pod is deleted, when it is killed, and when the node is', async () => {
      const registry = await testRegistry();
      const { bin, ...image } = postgresqlImage(found);
      registry.add('library/postgres', '15', image);
      const dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-postgresql-')));
      const args = ['--runtime', 'sandbox', '--nodes', '1', '--images', 'registry', '--registry-mirror', `docker.io=http://${registry.host}`];
      const start = (): Promise<MoorProcess> => startMoor({ dataDir, args, bare: false });
      let moor = await start();
      const sql = async (statement: string): Promise<string> => {
        const { stdout, stderr } = await moor.kubectl('exec', 'db-0', '--', `${bin}/psql`, '-h', '/tmp', '-U', 'postgres', '-Atc', statement);
        return stdout.trim() || stderr;
      };
      const ready = async (): Promise<void> => {
        await expect.poll(async () => (await moor.kubectl('get', 'pod', 'db-0', '-o', 'name')).stdout, { timeout: 60_000 }).toBe('pod/db-0\n');
        const waited = await moor.kubectl('wait', '--for=condition=Ready', 'pod/db-0', '--timeout=120s');
        expect(waited.code, `${(await moor.kubectl('describe', 'pod', 'db-0')).stdout}${(await moor.kubectl('logs', 'db-0', '--previous')).stdout}`).toBe(0);
      };
      try {
        expect(await moor.kubectlWith(JSON.stringify(statefulSet('postgres:15')), 'apply', '-f', '-')).toMatchObject({ code: 0 });
        await ready();
        await expect.poll(() => sql('create table t (n int primary key, at text)'), patience).toBe('CREATE TABLE');
        expect(await sql("insert into t select n, 'first' from generate_series(1, 1000) n")).toBe('INSERT 0 1000');

        expect(await moor.kubectl('delete', 'pod', 'db-0', '--timeout=120s')).toMatchObject({ code: 0 });
        await ready();
        await expect.poll(() => sql('select count(*) from t'), patience).toBe('1000');

        expect(await sql("insert into t values (1001, 'before the database is killed')")).toBe('INSERT 0 1');
        const uid = (await moor.kubectl('get', 'pod', 'db-0', '-o', 'jsonpath={.metadata.uid}')).stdout;
        process.kill(serverOf(uid, bin), 'SIGKILL');
        const restarts = async () => (await moor.kubectl('get', 'pod', 'db-0', '-o', 'jsonpath={.status.containerStatuses[0].restartCount}')).stdout;
        await expect.poll(restarts, { timeout: 60_000 }).toBe('1');
        await ready();
        await expect.poll(() => sql('select count(*) from t'), patience).toBe('1001');

        expect(await sql("insert into t values (1002, 'before the node is killed')")).toBe('INSERT 0 1');
        await moor.stop('SIGKILL');
        moor = await start();
        await ready();
        await expect.poll(() => sql('select at from t where n = 1002'), patience).toBe('before the node is killed');
        expect(await restarts()).toBe('1');
      } finally {
        await moor.stop();
        expect(await runMoor('down', '--data-dir', dataDir)).toMatchObject({ code: 0 });
        await registry.close();
        rmSync(dataDir, { recursive: true, force: true });
      }
    }, 600_000);
  });
}
