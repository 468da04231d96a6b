// Images that e2e.test asks for, rebuilt from Debian's packages and the Go module proxy: this machine need not reach their registry.
// docs/CONFORMANCE.md lists them, and those that are missing.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Changes with what the images hold. */
const recipe = '1';

/** Programs of this machine that busybox has not, each with the libraries that it names. */
const programs = ['bash', 'curl', 'nc', 'ss', 'ip', 'stat', 'dig'];

const passwd = 'root:x:0:0:root:/root:/bin/sh\nuser-defined-in-image:x:1000:1000::/home:/bin/sh\n';
const group = 'root:x:0:\nuser-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\nnogroup:x:65534:\n';
const registry = 'registry.k8s.io';
const variables = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'GODEBUG=netdns=go'];

/** By name: what the config says. All share one layer. */
const images = {
  [`${registry}/e2e-test-images/agnhost:2.63.0`]: { Entrypoint: ['/agnhost'], Cmd: ['pause'] },
  [`${registry}/e2e-test-images/agnhost:2.55`]: { Entrypoint: ['/agnhost'], Cmd: ['pause'] },
  [`${registry}/e2e-test-images/busybox:1.37.0-1`]: { Cmd: ['sh'] },
  [`${registry}/pause:3.10.2`]: { Entrypoint: ['/pause'] },
  [`${registry}/e2e-test-images/nonroot:1.5`]: { Entrypoint: ['/agnhost', 'pause'], User: '1234' },
  // These serve a page; nothing in the suite looks at what else the server is.
  [`${registry}/e2e-test-images/nginx:1.15-4`]: { Entrypoint: ['/agnhost', 'test-webserver'] },
  [`${registry}/e2e-test-images/nginx:1.27-0`]: { Entrypoint: ['/agnhost', 'test-webserver'] },
};

/** The archive for `moor load`, made once for each agnhost. */
export function imageArchive({ agnhost, cache }) {
  const hash = createHash('sha256').update(recipe).update(agnhost).update(JSON.stringify(images)).digest('hex').slice(0, 12);
  const archive = path.join(cache, `e2e-images-${hash}.tar`);
  if (existsSync(archive)) return archive;
  const work = `${archive}.${process.pid}`;
  try {
    makeRoot(path.join(work, 'root'), agnhost, work);
    writeArchive(work);
    run('tar', ['-C', path.join(work, 'image'), '-cf', `${work}.tar`, '.']);
    renameSync(`${work}.tar`, archive);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return archive;
}

function makeRoot(root, agnhost, work) {
  for (const folder of ['bin', 'etc', 'root', 'home', 'uploads', 'usr', 'var/run', 'proc', 'sys', 'dev'])
    mkdirSync(path.join(root, folder), { recursive: true });
  mkdirSync(path.join(root, 'tmp'));
  chmodSync(path.join(root, 'tmp'), 0o1777);
  symlinkSync('../bin', path.join(root, 'usr/bin'));
  symlinkSync('bin', path.join(root, 'sbin'));
  writeFileSync(path.join(root, 'etc/passwd'), passwd);
  writeFileSync(path.join(root, 'etc/group'), group);
  writeFileSync(path.join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  installBusybox(root, work);
  copyFileSync(agnhost, path.join(root, 'agnhost'));
  symlinkSync('agnhost', path.join(root, 'agnhost-2'));
  writeFileSync(path.join(root, 'pause'), '#!/bin/sh\nexec /agnhost pause\n', { mode: 0o755 });
  for (const program of programs) copyProgram(program, root);
}

/** Debian's static busybox, and a link for each of its applets. */
function installBusybox(root, work) {
  const folder = path.join(work, 'deb');
  mkdirSync(folder, { recursive: true });
  run('apt-get', ['-qq', 'download', 'busybox-static'], folder);
  const [deb] = readdirSync(folder);
  run('dpkg', ['-x', deb, '.'], folder);
  const busybox = ['usr/bin/busybox', 'bin/busybox'].map((place) => path.join(folder, place)).find((place) => existsSync(place));
  if (busybox === undefined) throw new Error('the package busybox-static has no busybox');
  copyFileSync(busybox, path.join(root, 'bin/busybox'));
  for (const applet of run(busybox, ['--list']).split('\n')) if (applet !== '' && applet !== 'busybox') symlinkSync('busybox', path.join(root, 'bin', applet));
}

function copyProgram(name, root) {
  const found = spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim();
  if (found === '') return;
  const target = path.join(root, 'bin', name);
  rmSync(target, { force: true });
  copyFileSync(found, target);
  chmodSync(target, 0o755);
  for (const [, library] of spawnSync('ldd', [found], { encoding: 'utf8' }).stdout.matchAll(/(\/\S+) \(0x/g)) {
    const place = path.join(root, library);
    mkdirSync(path.dirname(place), { recursive: true });
    if (!existsSync(place)) copyFileSync(library, place);
  }
}

/** As `docker save` writes several images that share a layer. */
function writeArchive(work) {
  const image = path.join(work, 'image');
  mkdirSync(image);
  run('tar', [
    '-C',
    path.join(work, 'root'),
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mtime=@0',
    '--sort=name',
    '-cf',
    path.join(image, 'layer.tar'),
    '.',
  ]);
  const diffId = `sha256:${createHash('sha256')
    .update(readFileSync(path.join(image, 'layer.tar')))
    .digest('hex')}`;
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  const manifest = Object.entries(images).map(([name, config], i) => {
    const document = { architecture, os: 'linux', config: { Env: variables, WorkingDir: '/', ...config }, rootfs: { type: 'layers', diff_ids: [diffId] } };
    writeFileSync(path.join(image, `config-${i}.json`), JSON.stringify(document));
    return { Config: `config-${i}.json`, RepoTags: [name], Layers: ['layer.tar'] };
  });
  writeFileSync(path.join(image, 'manifest.json'), JSON.stringify(manifest));
}

function run(program, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (error !== undefined || status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
  return stdout;
}
