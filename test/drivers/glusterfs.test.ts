/** The conformance suite on volumes of a real Gluster server, over FUSE. */
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Endpoints, Pod } from '../../src/api/generated/types.ts';
import { describeNodeDriver } from '../../src/drivers/conformance.ts';
import type { HostWithPrograms } from '../../src/drivers/mount/mount-program.ts';
import { glusterfsNode } from '../../src/drivers/glusterfs/node.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { realMounts } from '../../src/host/mounts.ts';
import { realPrograms } from '../../src/host/programs.ts';
import { makeFileSystem } from './loop-devices.ts';
import { describeWithServer, type Server, startServer, until } from './server.ts';
import { thisMachine, unmountBelow } from './this-machine.ts';

const needs = { programs: ['glusterd', 'gluster', 'mount.glusterfs'], files: ['/dev/fuse', '/dev/loop-control'], packages: 'glusterfs-server' };
const real: HostWithPrograms = { mounts: realMounts(), files: realHostFiles, programs: realPrograms };
let address = '127.0.0.1';

function glusterOn(host: HostWithPrograms) {
  const endpoints = { metadata: {}, subsets: [{ addresses: [{ ip: address }] }] } as unknown as Endpoints;
  return glusterfsNode({ ...host, endpoints: async () => ({ ok: true, value: endpoints }) });
}

const volume = { source: { glusterfs: { endpoints: 'servers', path: 'vol' } } };

function publish(target: string, path: string) {
  const plain = { name: 'data', persistentVolume: undefined, readOnly: false, mountOptions: [], mode: 'Filesystem' as const, publishContext: {} };
  const pod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, spec: { containers: [] } } as unknown as Pod;
  const request = {
    volume: { ...plain, source: { glusterfs: { endpoints: 'servers', path } } },
    pod,
    target,
    stagingPath: undefined,
    recordEvent: () => undefined,
  };
  return glusterOn(real).nodePublishVolume(request);
}

describeWithServer('glusterfs', needs, {
  otherwise: async () => expect(await publish('/tmp/moor-no-gluster/pod', 'vol')).toMatchObject({ ok: false }),
  tests: () => {
    const aside = thisMachine();
    const machine = thisMachine();
    let server: Server;

    beforeAll(async () => {
      makeFileSystem(aside.at('brick.img'));
      mkdirSync(aside.at('data'));
      server = await startServer(`
        for directory in /var/lib/glusterd /var/log/glusterfs /mnt; do mount -t tmpfs tmpfs "$directory"; done
        mkdir /run/gluster /mnt/disk
        mount -o loop '${aside.at('brick.img')}' /mnt/disk
        mkdir /mnt/disk/brick
        # Geo-replication starts a dozen Python programs that no test needs: a stub that prints its name suffices.
        printf '#!/bin/sh\\necho gsyncd 0.0.1\\n' >/run/gsyncd
        chmod 755 /run/gsyncd
        for program in /usr/lib/*/glusterfs/gsyncd; do if [ -e "$program" ]; then mount --bind /run/gsyncd "$program"; fi; done
        glusterd --no-daemon </dev/null &`);
      ({ address } = server);
      const gluster = (...args: readonly string[]) => server.inside('gluster', '--mode=script', ...args);
      // A client that connects before it listens retries after seconds.
      await until(() => server.inside('test', '-S', '/run/glusterd.socket'));
      await until(() => gluster('pool', 'list'));
      // It responds before it is ready for this.
      await until(() => gluster('volume', 'create', 'vol', `${address}:/mnt/disk/brick`, 'force'));
      await until(() => gluster('volume', 'start', 'vol'));
      // A second client, to see the driver's writes from elsewhere.
      await until(async () => {
        const end = await realPrograms.run('mount', ['-t', 'glusterfs', `${address}:vol`, aside.at('data')], { timeoutMs: 60_000 });
        return { ok: end.type === 'exited' && end.code === 0, output: '' };
      });
    });

    afterAll(async () => {
      await unmountBelow(aside.root);
      await machine.empty();
      await server.stop();
    });

    describeNodeDriver('glusterfs', {
      machine: machine.empty,
      make: async (host) => glusterOn(host),
      volume,
      data: aside.at('data'),
      content: 'outlives pods',
      readOnly: 'driver',
    });

    test('a volume that the server does not have fails with the message of mount, and leaves nothing behind', async () => {
      await machine.empty();
      const message = expect.stringMatching(/^mount failed: exit status \d+\nMounting command: mount\nMounting arguments: -t glusterfs .*\nOutput: /);
      expect(await publish(machine.at('pod'), 'nowhere')).toMatchObject({ ok: false, message });
      expect(await realHostFiles.list(machine.root)).toEqual([]);
    });
  },
});
