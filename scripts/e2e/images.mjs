// Images that e2e.test asks for, rebuilt from Debian's packages and the Go module proxy: this machine need not reach their registry.
// docs/CONFORMANCE.md lists them, and those that are missing.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { layers, run } from './layers.mjs';

/** Changes with what the layers hold. */
const recipe = '6';

const testImages = 'registry.k8s.io/e2e-test-images';
const variables = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'GODEBUG=netdns=go'];
const agnhost = { layers: ['busybox', 'tools', 'agnhost'], Entrypoint: ['/agnhost'], Cmd: ['pause'] };
const nginx = { layers: ['busybox', 'tools', 'nginx'], Cmd: ['nginx', '-g', 'daemon off;'], StopSignal: 'SIGQUIT' };

/** By name: its layers from the lowest on, and what its config says. */
const images = {
  [`${testImages}/agnhost:2.63.0`]: agnhost,
  [`${testImages}/agnhost:2.55`]: agnhost,
  [`${testImages}/busybox:1.37.0-1`]: { layers: ['busybox'], Cmd: ['sh'] },
  [`${testImages}/glibc-dns-testing:2.0.0`]: { layers: ['busybox', 'tools'], Cmd: ['bash'] },
  [`${testImages}/ipc-utils:1.4`]: { layers: ['busybox', 'tools'], Cmd: ['sh'] },
  [`${testImages}/kitten:1.8`]: { ...agnhost, layers: [...agnhost.layers, 'kitten'], Cmd: ['test-webserver'] },
  [`${testImages}/nautilus:1.8`]: { ...agnhost, layers: [...agnhost.layers, 'nautilus'], Cmd: ['test-webserver'] },
  [`${testImages}/nginx:1.15-4`]: nginx,
  [`${testImages}/nginx:1.27-0`]: nginx,
  [`${testImages}/nonewprivs:1.4`]: { layers: ['busybox', 'nonewprivs'], Cmd: ['nnp'] },
  [`${testImages}/nonroot:1.5`]: { ...agnhost, User: '1234' },
  [`${testImages}/perl:5.26`]: { layers: ['busybox', 'tools'], Cmd: ['perl'] },
  [`${testImages}/regression-issue-74839:1.4`]: { layers: ['busybox', 'regression-issue-74839'], Entrypoint: ['/regression-issue-74839'] },
  [`${testImages}/resource-consumer:1.14`]: { layers: ['busybox', 'resource-consumer'], Entrypoint: ['/consumer'] },
  [`${testImages}/sample-apiserver:1.29.2`]: { layers: ['busybox', 'sample-apiserver'], Entrypoint: ['/sample-apiserver'] },
  'registry.k8s.io/etcd:3.6.8-0': { layers: ['busybox', 'etcd'] },
  'registry.k8s.io/pause:3.10.2': { layers: ['busybox', 'agnhost'], Entrypoint: ['/pause'] },
};

/** Programs of Kubernetes' module that images hold (tools/peers/kubernetes). */
export const imagePeers = ['agnhost', 'nonewprivs', 'regression-issue-74839', 'resource-consumer', 'sample-apiserver'];

/** Where the archive for `moor load` lies. `programs`: their paths by name. */
export function archivePath({ programs, cache }) {
  const hash = createHash('sha256')
    .update(JSON.stringify([recipe, programs, images]))
    .digest('hex')
    .slice(0, 12);
  return path.join(cache, `e2e-images-${hash}.tar`);
}

/** The archive, made once for the programs. */
export function imageArchive({ programs, cache }) {
  const archive = archivePath({ programs, cache });
  if (existsSync(archive)) return archive;
  const work = `${archive}.${process.pid}`;
  try {
    mkdirSync(path.join(work, 'image'), { recursive: true });
    writeArchive(work, programs);
    run('tar', ['-C', path.join(work, 'image'), '-cf', `${work}.tar`, '.']);
    renameSync(`${work}.tar`, archive);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return archive;
}

/** As `docker save` writes several images that share layers. */
function writeArchive(work, programs) {
  const image = path.join(work, 'image');
  const names = new Set(Object.values(images).flatMap((each) => each.layers));
  const diffIds = new Map([...names].map((name) => [name, writeLayer(name, { work, programs })]));
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  const manifest = Object.entries(images).map(([name, { layers: own, ...config }], i) => {
    const rootfs = { type: 'layers', diff_ids: own.map((layer) => diffIds.get(layer)) };
    const document = { architecture, os: 'linux', config: { Env: variables, WorkingDir: '/', ...config }, rootfs };
    writeFileSync(path.join(image, `config-${i}.json`), JSON.stringify(document));
    return { Config: `config-${i}.json`, RepoTags: [name], Layers: own.map((layer) => `${layer}.tar`) };
  });
  writeFileSync(path.join(image, 'manifest.json'), JSON.stringify(manifest));
}

/** @returns the layer's diff id */
function writeLayer(name, { work, programs }) {
  const root = path.join(work, 'roots', name);
  mkdirSync(root, { recursive: true });
  layers[name](root, { work, programs });
  const file = path.join(work, 'image', `${name}.tar`);
  run('tar', ['-C', root, '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0', '--sort=name', '-cf', file, '.']);
  return `sha256:${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
}
