/** The conformance suite on exports of a real NFS server: by the kernel's client, or over FUSE by the client in examples/. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Pod } from '../../src/api/generated/types.ts';
import { describeNodeDriver } from '../../src/drivers/conformance.ts';
import type { HostWithPrograms } from '../../src/drivers/mount/mount-program.ts';
import { nfsNode } from '../../src/drivers/nfs/node.ts';
import { realHostFiles } from '../../src/host/files.ts';
import { realMounts } from '../../src/host/mounts.ts';
import { realPrograms } from '../../src/host/programs.ts';
import { root as project } from '../moor-process.ts';
import { startNfsServer } from './nfs-server.ts';
import { describeWithServer, type Server, until } from './server.ts';
import { thisMachine } from './this-machine.ts';

const libraries = ['/usr/lib/python3/dist-packages/fusepy.py', '/dev/fuse'];
const packages = 'nfs-ganesha-vfs, rpcbind, libnfs13, python3-fusepy';
const needs = { programs: ['ganesha.nfsd', 'rpcbind'], files: libraries, packages };
const real: HostWithPrograms = { mounts: realMounts(), files: realHostFiles, programs: realPrograms };
let address = '127.0.0.1';

/** A PATH with the example client. */
const withClient = (host: HostWithPrograms): HostWithPrograms => {
  const PATH = `${path.join(project, 'examples/fuse-nfs')}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
  return { ...host, programs: { run: (file, args, options) => host.programs.run(file, args, { ...options, variables: { PATH } }) } };
};

function publish(host: HostWithPrograms, target: string, exported: string, version = 3) {
  const plain = {
    name: 'data',
    persistentVolume: undefined,
    readOnly: false,
    mountOptions: [`nfsvers=${version}`],
    mode: 'Filesystem' as const,
    publishContext: {},
  };
  const pod = { metadata: { namespace: 'default', name: 'web', uid: 'uid' }, spec: { containers: [] } } as unknown as Pod;
  const request = {
    volume: { ...plain, source: { nfs: { server: address, path: exported } } },
    pod,
    target,
    stagingPath: undefined,
    recordEvent: () => undefined,
  };
  return nfsNode(host).nodePublishVolume(request);
}

/** NFSv3 names exports by their directories. */
let exported = '';

describeWithServer('nfs', needs, {
  otherwise: async () => expect(await publish(real, '/tmp/moor-no-nfs/pod', '/data')).toMatchObject({ ok: false }),
  tests: () => {
    const aside = thisMachine();
    const machine = thisMachine();
    let server: Server;

    beforeAll(async () => {
      exported = aside.at('export');
      mkdirSync(exported);
      server = await startNfsServer({ exported, aside: aside.root });
      ({ address } = server);
      await until(async () => {
        const answer = await publish(withClient(real), machine.at('trial'), exported);
        return { ok: answer.ok, output: answer.ok ? '' : answer.message };
      });
    });

    afterAll(async () => {
      await machine.empty();
      await server.stop();
    });

    describeNodeDriver('nfs', {
      machine: machine.empty,
      make: async (host) => nfsNode(withClient(host)),
      volume: {
        source: {
          nfs: {
            get server() {
              return address;
            },
            path: aside.at('export'),
          },
        },
        mountOptions: ['nfsvers=3'],
      },
      readOnlyPrograms: /^modprobe /,
      data: aside.at('export'),
      content: 'outlives pods',
      readOnly: 'driver',
    });

    test('writes, renames and removals appear on the server', async () => {
      await machine.empty();
      expect(await publish(withClient(real), machine.at('pod'), exported)).toMatchObject({ ok: true });
      const large = Buffer.alloc(3_000_000, 'x');
      await realHostFiles.makeDirectory(machine.at('pod/directory'), 0o755);
      await realHostFiles.write(machine.at('pod/directory/one'), large, 0o640);
      await realHostFiles.rename(machine.at('pod/directory/one'), machine.at('pod/directory/two'));
      await realHostFiles.makeLink(machine.at('pod/link'), 'directory/two');
      expect(readFileSync(aside.at('export/link')).equals(large)).toBe(true);
      expect(await realHostFiles.stat(aside.at('export/directory/two'))).toMatchObject({ mode: 0o640, uid: 0 });
      await realHostFiles.removeTree(machine.at('pod/directory'));
      expect(existsSync(aside.at('export/directory'))).toBe(false);
    });

    test('the example client refuses version 4', async () => {
      await machine.empty();
      const answer = await publish(withClient(real), machine.at('pod'), exported, 4);
      if (!answer.ok && !answer.message.includes('fuse-nfs')) return;
      expect(answer).toMatchObject({ ok: false, message: expect.stringContaining('ask for nfsvers=3') });
      expect(await realHostFiles.list(machine.root)).toEqual([]);
    });

    test('an export that the server does not have is refused, and leaves nothing behind', async () => {
      await machine.empty();
      expect(await publish(withClient(real), machine.at('pod'), '/nowhere')).toMatchObject({ ok: false, message: expect.stringContaining('mount failed') });
      expect(await realHostFiles.list(machine.root)).toEqual([]);
    });
  },
});
