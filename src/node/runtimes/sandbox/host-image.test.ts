import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeHostImage, shownTreeOf } from './host-image.ts';

describe('the files of the host that containers see', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'moor-image-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const host = (name: string) => path.join(directory, 'host', name);
  const image = (name: string) => path.join(directory, 'image', name);
  const write = (name: string, mode = 0o644) => {
    mkdirSync(path.dirname(host(name)), { recursive: true });
    writeFileSync(host(name), name);
    chmodSync(host(name), mode);
  };
  const make = () => makeHostImage({ host: host(''), directory: image(''), seenAs: '../image' });

  test('a merged-usr host: links are links, trees are layers, and no other directory is seen', () => {
    for (const name of ['usr/bin/sh', 'usr/lib/libc.so', 'usr/local/bin/tool', 'usr/src/secret', 'opt/app/key', 'root/.ssh/id', 'home/me/.kube/config'])
      write(name);
    symlinkSync('usr/bin', host('bin'));
    symlinkSync('usr/lib', host('lib'));
    expect(make().layers).toEqual([
      { target: '/', lower: ['../image'] },
      ...['/usr/bin', '/usr/lib', '/usr/local/bin'].map((target) => ({ target, lower: [path.join(host(''), target)] })),
    ]);
    expect([readlinkSync(image('bin')), readlinkSync(image('lib'))]).toEqual(['usr/bin', 'usr/lib']);
    expect(['usr/src', 'sbin', 'opt/app', 'root/.ssh', 'home/me'].filter((name) => existsSync(image(name)))).toEqual([]);
    expect(readdirSync(image('usr/bin'))).toEqual([]);
    expect(statSync(image('tmp')).mode & 0o7777).toBe(0o1777);
  });

  test('directories of their own in the root are layers too', () => {
    for (const name of ['bin/sh', 'lib/libc.so']) write(name);
    expect(make().layers.map(({ target }) => target)).toEqual(['/', '/bin', '/lib']);
  });

  test('of /etc a list, and of that what every user may read: no keys, no sockets', async () => {
    for (const name of ['passwd', 'shadow', 'sudoers', 'ssh/ssh_host_key', 'kubernetes/admin.conf', 'ssl/private/host.key', 'ssl/certs/ca.pem'])
      write(`etc/${name}`);
    write('etc/ssl/certs/host.key', 0o640);
    symlinkSync('../private/host.key', host('etc/ssl/certs/link.key'));
    const server = createServer().listen(host('etc/ssl/certs/socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    make();
    server.close();
    expect(readdirSync(image('etc')).sort()).toEqual(['mtab', 'opt', 'passwd', 'ssl']);
    expect(readdirSync(image('etc/ssl'))).toEqual(['certs']);
    expect(readdirSync(image('etc/ssl/certs')).sort()).toEqual(['ca.pem', 'link.key']);
    expect(readlinkSync(image('etc/ssl/certs/link.key'))).toBe('../private/host.key');
  });

  test('is made again when a file of the host has changed, and only then', () => {
    write('etc/group');
    make();
    writeFileSync(image('etc/marker'), '');
    make();
    expect(existsSync(image('etc/marker'))).toBe(true);
    writeFileSync(host('etc/group'), 'changed');
    make();
    expect(existsSync(image('etc/marker'))).toBe(false);
    expect(readFileSync(image('etc/group'), 'utf8')).toBe('changed');
  });

  test('says which paths it shows', () => {
    expect(['/usr/share/cluster', '/usr/local/bin', '/etc/ssl/certs/x', '/lib'].map(shownTreeOf)).toEqual([
      '/usr/share',
      '/usr/local/bin',
      '/etc/ssl/certs',
      '/lib',
    ]);
    expect(['/usr', '/usr/shared', '/etc/kubernetes/x', '/var/lib/moor', '/home/me', '/'].map(shownTreeOf)).toEqual(Array.from({ length: 6 }));
  });
});
