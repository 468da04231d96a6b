// The layers of the rebuilt images: each function fills a folder with the files of one.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const passwd = 'root:x:0:0:root:/root:/bin/sh\nuser-defined-in-image:x:1000:1000::/home:/bin/sh\nwww-data:x:33:33::/var/www:/bin/sh\n';
const group = 'root:x:0:\nwww-data:x:33:\nuser-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\nnogroup:x:65534:\n';

/** What the original images add to busybox: getent, dig, nc with all its flags, perl. */
const tools = ['bash', 'bind9-dnsutils', 'curl', 'iproute2', 'libc-bin', 'netcat-openbsd', 'perl-base', 'util-linux'];

export const layers = {
  busybox: (root, { work }) => {
    for (const folder of ['bin', 'etc', 'root', 'home', 'usr/local/bin', 'var/run', 'proc', 'sys', 'dev'])
      mkdirSync(path.join(root, folder), { recursive: true });
    mkdirSync(path.join(root, 'tmp'));
    chmodSync(path.join(root, 'tmp'), 0o1777);
    writeFileSync(path.join(root, 'etc/passwd'), passwd);
    writeFileSync(path.join(root, 'etc/group'), group);
    writeFileSync(path.join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
    installBusybox(root, work);
  },
  tools: (root, { work }) => {
    installPackages(tools, root, work);
    symlinkSync('../../bin/nc.openbsd', path.join(root, 'usr/bin/nc'));
  },
  agnhost: (root, { programs }) => {
    mkdirSync(path.join(root, 'uploads'));
    copyFileSync(programs.agnhost, path.join(root, 'agnhost'));
    symlinkSync('agnhost', path.join(root, 'agnhost-2'));
    // Its web server serves them, and readiness probes ask for the certificate.
    const [certificate, key] = ['crt', 'key'].map((name) => path.join(root, `localhost.${name}`));
    run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '3650', '-out', certificate, '-keyout', key]);
    chmodSync(key, 0o644);
    writeFileSync(path.join(root, 'pause'), '#!/bin/sh\nexec /agnhost pause\n', { mode: 0o755 });
  },
  kitten: (root) => {
    writeFileSync(path.join(root, 'data.json'), '{\n    "image": "kitten.jpg"\n}\n');
    // Which distribution the original is made of is part of what a spec reads from it.
    mkdirSync(path.join(root, 'etc'));
    writeFileSync(path.join(root, 'etc/os-release'), 'NAME="Alpine Linux"\nID=alpine\n');
  },
  nautilus: (root) => writeFileSync(path.join(root, 'data.json'), '{\n    "image": "nautilus.jpg"\n}\n'),
  nginx: (root, { work }) => {
    installPackages(['nginx'], root, work);
    const html = path.join(root, 'usr/share/nginx/html');
    mkdirSync(html, { recursive: true });
    writeFileSync(path.join(html, 'index.html'), '<!DOCTYPE html>\n<title>Welcome to nginx!</title>\n<h1>Welcome to nginx!</h1>\n');
    writeFileSync(path.join(root, 'etc/nginx/nginx.conf'), nginxConfiguration);
  },
  nonewprivs: (root, { programs }) => {
    const program = path.join(root, 'usr/local/bin/nnp');
    mkdirSync(path.dirname(program), { recursive: true });
    copyFileSync(programs.nonewprivs, program);
    chmodSync(program, 0o6755);
  },
  'regression-issue-74839': (root, { programs }) => copyFileSync(programs['regression-issue-74839'], path.join(root, 'regression-issue-74839')),
  'resource-consumer': (root, { programs }) => copyFileSync(programs['resource-consumer'], path.join(root, 'consumer')),
  'sample-apiserver': (root, { programs }) => copyFileSync(programs['sample-apiserver'], path.join(root, 'sample-apiserver')),
  etcd: (root, { work }) => {
    installPackages(['etcd-server'], root, work);
    mkdirSync(path.join(root, 'usr/local/bin'), { recursive: true });
    symlinkSync('/usr/bin/etcd', path.join(root, 'usr/local/bin/etcd'));
  },
};

const nginxConfiguration = `user www-data;
error_log /dev/stderr;
pid /tmp/nginx.pid;
events {}
http {
  access_log /dev/stdout;
  server {
    listen 80;
    root /usr/share/nginx/html;
  }
}
`;

/**
 * Debian's static busybox, and a link for each of its applets but the shell: that of Debian takes its own applets before programs of the PATH (nc -v would be an error), and drops
 * variables whose names have a '-'. bash does neither.
 */
function installBusybox(root, work) {
  const unpacked = path.join(work, 'busybox');
  installPackages(['busybox-static'], unpacked, work);
  const busybox = ['usr/bin/busybox', 'bin/busybox'].map((place) => path.join(unpacked, place)).find((place) => existsSync(place));
  if (busybox === undefined) throw new Error('the package busybox-static has no busybox');
  copyFileSync(busybox, path.join(root, 'bin/busybox'));
  const others = new Set(['', 'busybox', 'sh']);
  for (const applet of run(busybox, ['--list']).split('\n')) if (!others.has(applet)) symlinkSync('busybox', path.join(root, 'bin', applet));
  installPackages(['bash-static'], unpacked, work);
  copyFileSync(path.join(unpacked, 'bin/bash-static'), path.join(root, 'bin/sh'));
}

/** Unpacks packages with all that they depend on; the empty list of installed packages makes apt-get fetch these too. No script of a package runs. */
function installPackages(names, root, work) {
  const archives = path.join(work, `packages-${names[0]}`);
  mkdirSync(path.join(archives, 'partial'), { recursive: true });
  writeFileSync(path.join(archives, 'status'), '');
  const options = [`Dir::State::status=${archives}/status`, `Dir::Cache::archives=${archives}`, 'APT::Sandbox::User=root'].flatMap((option) => ['-o', option]);
  run('apt-get', ['-qq', '-y', '--no-install-recommends', '--download-only', ...options, 'install', ...names]);
  mkdirSync(root, { recursive: true });
  for (const name of readdirSync(archives)) if (name.endsWith('.deb')) run('dpkg-deb', ['-x', path.join(archives, name), root]);
  // Nothing in a container reads these.
  for (const folder of ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/share/info', 'usr/lib/x86_64-linux-gnu/gconv', 'var/cache']) {
    rmSync(path.join(root, folder), { recursive: true, force: true });
  }
}

export function run(program, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (error !== undefined || status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
  return stdout;
}
