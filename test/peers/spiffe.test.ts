// Peers: spiffe-csi-driver
/** The driver of SPIFFE: inline volumes only, with the socket directory of its Workload API, read-only. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { pod } from './host-path-objects.ts';
import { mountsBelow, nodeName, startPeerCluster } from './peer-cluster.ts';
import { startPeer } from './peer-process.ts';
import { startRegistrar } from './registrar.ts';

const name = 'csi.spiffe.io';

test('pods see the socket directory of the Workload API, read-only, also after the driver was killed, until they end', async () => {
  await using cluster = await startPeerCluster();
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-spiffe-')));
  const [socket, workload] = [path.join(directory, 'csi.sock'), path.join(directory, 'workload')];
  mkdirSync(workload);
  writeFileSync(path.join(workload, 'api'), 'served here\n');
  const start = async () => {
    rmSync(socket, { force: true });
    const peer = startPeer('spiffe-csi-driver', '-node-id', nodeName, '-csi-socket-path', socket, '-workload-api-socket-dir', workload);
    await vi.waitUntil(() => existsSync(socket), { timeout: 60_000 });
    return peer;
  };
  let driver = await start();
  try {
    const spec = { volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true, attachRequired: false, fsGroupPolicy: 'None' };
    await cluster.apply({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name }, spec });
    await using _registrar = await startRegistrar(cluster.nodeRoot, name, socket);
    const inline = { workload: { csi: { driver: name, readOnly: true } } };
    expect(await cluster.run(pod('reads', 'cat /v/workload/api; touch /v/workload/new 2>/dev/null || echo read-only', inline))).toBe(
      'served here\nread-only\n',
    );
    // The driver refuses what it cannot do; the pod waits with its reason.
    await cluster.apply(pod('writes', 'true', { workload: { csi: { driver: name } } }));
    await expect
      .poll(() => cluster.kubectl('get', 'events', '--field-selector', 'involvedObject.name=writes'))
      .toMatch(/FailedMount.*read-only|FailedMount.*readOnly/i);

    await cluster.apply(pod('stays', 'exec sleep infinity', inline));
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod/stays', '--timeout=120s');
    await driver.stop('SIGKILL');
    driver = await start();
    expect(await cluster.kubectl('exec', 'stays', '--', 'cat', '/v/workload/api')).toBe('served here\n');
    await cluster.kubectl('delete', 'pod', 'stays', 'writes', '--timeout=240s');
    await expect.poll(() => mountsBelow(workload)).toEqual([]);
  } finally {
    await driver.stop('SIGKILL');
  }
  rmSync(directory, { recursive: true, force: true });
});
