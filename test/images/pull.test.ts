import type { ServerResponse } from 'node:http';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Container, Pod, Secret } from '../../src/api/generated/types.ts';
import { createRealWorld } from '../../src/host/world.ts';
import { type EnsuredImage, LoadedImages } from '../../src/node/images/image-manager.ts';
import { ImageStore } from '../../src/node/images/image-store.ts';
import { platformOfMachine } from '../../src/node/images/manifest.ts';
import { PulledImages } from '../../src/node/images/registry/pulled-images.ts';
import { describeWithSandboxes } from '../sandbox/sandboxes.ts';
import { digestOf, tarOf } from './archives.ts';
import { type TestImages, testImages } from './layer-program.ts';
import { testRegistry, type TestRegistry } from './registry-server.ts';

describeWithSandboxes('images of registries', () => {
  let store: TestImages;
  let registry: TestRegistry;
  let manager: PulledImages;
  let skipped = 0;
  const { clock: realClock, timers } = createRealWorld({ logLevel: 'silent' });
  const clock = { ...realClock, now: () => Date.now() + skipped, monotonic: () => realClock.monotonic() };
  beforeAll(async () => {
    [store, registry] = await Promise.all([testImages(), testRegistry()]);
    const mirrors = new Map([['docker.io', [`http://${registry.host}`]]]);
    manager = new PulledImages({ images: store.images, platform: platformOfMachine(process.arch), timers, mirrors, clock });
  });
  afterAll(async () => {
    await registry.close();
    await store.dispose();
  });
  beforeEach(() => {
    registry.credentials = undefined;
    registry.onRequest = () => false;
    registry.requests.length = 0;
  });

  let pods = 0;
  const newPod = () => ({ metadata: { uid: `pod-${++pods}` }, spec: {} }) as unknown as Pod;
  const container = (image: string, imagePullPolicy = 'IfNotPresent'): Container => ({ name: 'c', image, imagePullPolicy, resources: {} });
  /** The outcome of a pull, and all events. */
  const ensure = async (image: string, { pod = newPod(), policy = 'IfNotPresent', secrets = [] as readonly Secret[] } = {}): Promise<EnsuredImage> => {
    const first = await manager.ensure(pod, container(image, policy), secrets);
    if (first.ok !== 'pending') return first;
    await first.done;
    const second = await manager.ensure(pod, container(image, policy), secrets);
    return { ...second, events: [...first.events, ...second.events] };
  };
  const add = (name: string, content: string): string => registry.add(name, '1', { name, layers: [tarOf([{ name: 'f', content }])], isCompressed: true });
  const secretOf = (name: string, passwords: Readonly<Record<string, string>>): Secret => {
    const auths = Object.fromEntries(Object.entries(passwords).map(([host, each]) => [host, { auth: Buffer.from(each).toString('base64') }]));
    const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
    const metadata = { name, namespace: 'default', uid: `uid of ${name}` };
    return { kind: 'Secret', apiVersion: 'v1', metadata, type: 'kubernetes.io/dockerconfigjson', data };
  };
  const messages = ({ events }: EnsuredImage): readonly string[] => events.map(({ reason, message }) => `${reason}: ${message}`);

  test('are pulled once, by tag, digest and mirror; Always asks for the manifest again', async () => {
    const digest = add('team/app', 'pulled');
    const image = `${registry.host}/team/app:1`;
    const pulled = await ensure(image);
    expect(pulled.ok).toBe(true);
    expect(messages(pulled)).toEqual([
      `Pulling: Pulling image "${image}"`,
      expect.stringMatching(/^Pulled: Successfully pulled image ".*" in [\d.]+s \([\d.]+s including waiting\). Image size: \d+ bytes.$/),
    ]);
    const { layers } = await store.images.prepare(digest);
    expect(readFileSync(path.join(layers[0] ?? '', 'f'), 'utf8')).toBe('pulled');
    registry.requests.length = 0;
    expect(messages(await ensure(image))).toEqual([`Pulled: Container image "${image}" already present on machine and can be accessed by the pod`]);
    expect(registry.requests).toEqual([]);
    expect((await ensure(image, { policy: 'Always' })).ok).toBe(true);
    expect((await ensure(`${registry.host}/team/app@${digest}`)).ok).toBe(true);
    expect(registry.requests).toEqual(['/v2/team/app/manifests/1', `/v2/team/app/manifests/${digest}`]);
    add('library/mirrored', 'x');
    expect((await ensure('mirrored:1')).ok).toBe(true);
  });

  test('with a token, for the credentials of the pod; without them the pull is refused', async () => {
    add('secret/app', 'secret');
    registry.credentials = 'user:pass:word';
    const image = `${registry.host}/secret/app:1`;
    expect(await ensure(image)).toMatchObject({ ok: false, reason: 'ErrImagePull', message: expect.stringContaining('pull access denied') });
    const secrets = [secretOf('s', { [`https://${registry.host}/v2/`]: registry.credentials, 'other.example': 'x:y' })];
    registry.onRequest = (_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="http://other.example/token"' }).end();
      return true;
    };
    const refused = expect.stringContaining('http://other.example asks for the password of the registry without HTTPS: it is not sent there');
    expect(await ensure(image, { secrets })).toMatchObject({ ok: false, reason: 'ErrImagePull', message: refused });
    registry.onRequest = () => false;
    expect((await ensure(image, { secrets })).ok).toBe(true);
  });

  test('that needed credentials run for pods with such credentials only; a pull without any, or `moor load`, opens them for all', async () => {
    const digest = add('private/app', 'private');
    const image = `${registry.host}/private/app:1`;
    const present = [`Pulled: Container image "${image}" already present on machine and can be accessed by the pod`];
    registry.credentials = 'user:right';
    const wrong = secretOf('wrong', { [registry.host]: 'user:wrong' });
    const right = secretOf('right', { [`*.0.0.*`]: 'user:right' });
    // Each of them is tried.
    expect((await ensure(image, { secrets: [wrong, right] })).ok).toBe(true);
    expect(messages(await ensure(image, { secrets: [right] }))).toEqual(present);
    expect(messages(await ensure(image, { secrets: [secretOf('of another namespace', { [registry.host]: 'user:right' })] }))).toEqual(present);
    expect(messages(await ensure(image, { secrets: [secretOf('right', { [registry.host]: 'user:rotated' })] }))).toEqual(present);
    const denied = { ok: false, reason: 'ErrImagePull', message: expect.stringContaining('pull access denied') };
    expect(await ensure(image)).toMatchObject(denied);
    expect(await ensure(image, { secrets: [wrong] })).toMatchObject(denied);
    const hidden = { reason: 'ErrImageNeverPull', message: `Container image "${image}" is not present with pull policy of Never` };
    expect(await ensure(image, { policy: 'Never' })).toMatchObject(hidden);
    expect(await new LoadedImages(store.images).ensure(newPod(), container(image), [])).toMatchObject(hidden);
    expect((await new LoadedImages(store.images).ensure(newPod(), container(image), [right])).ok).toBe(true);
    // After a restart, too; and a damaged record permits nothing.
    const again = new ImageStore({ content: store.images.content, unpacker: store.unpacker, platform: platformOfMachine(process.arch), now: Date.now });
    expect(await new LoadedImages(again).ensure(newPod(), container(image), [])).toMatchObject(hidden);
    const record = path.join(store.directory, 'content/pulled', digest.replace(':', '-'));
    const kept = readFileSync(record);
    writeFileSync(record, kept.subarray(0, 20));
    expect(await new LoadedImages(again).ensure(newPod(), container(image), [right])).toMatchObject(hidden);
    writeFileSync(record, kept);

    registry.credentials = undefined;
    expect((await ensure(image)).ok).toBe(true);
    expect(messages(await ensure(image))).toEqual(present);
    await store.images.pullRecords.forget(digest);
    expect(messages(await ensure(image, { policy: 'Never' }))).toEqual(present);
    // A record stays as long as its image.
    writeFileSync(record, kept);
    await store.images.collect(new Set());
    expect(existsSync(record)).toBe(true);
    await store.images.untag(image);
    store.pass(2 * 3600_000);
    await store.images.collect(new Set());
    expect(existsSync(record)).toBe(false);
  });

  test('that are not there: ErrImagePull, then ImagePullBackOff, and another pull later', async () => {
    const [pod, image] = [newPod(), `${registry.host}/no/such:1`];
    const error = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`;
    const first = await ensure(image, { pod });
    expect(first).toMatchObject({ ok: false, reason: 'ErrImagePull', message: error });
    expect(messages(first)).toEqual([`Pulling: Pulling image "${image}"`, `Failed: Failed to pull image "${image}": ${error}`, 'Failed: Error: ErrImagePull']);
    const held = await ensure(image, { pod });
    expect(held).toMatchObject({ ok: false, reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}": ErrImagePull: ${error}` });
    expect(messages(held)).toEqual([`BackOff: Back-off pulling image "${image}"`, 'Failed: Error: ImagePullBackOff']);
    expect((await ensure(image, { pod })).events).toEqual([]);
    add('no/such', 'now there is one');
    skipped += 3600_000;
    expect((await ensure(image, { pod })).ok).toBe(true);
    const never = `${registry.host}/never/pulled:1`;
    expect(await ensure(never, { policy: 'Never' })).toMatchObject({
      reason: 'ErrImageNeverPull',
      message: `Container image "${never}" is not present with pull policy of Never`,
    });
  });

  test('whose connection breaks go on where they were', async () => {
    add('broken/app', 'x'.repeat(3000));
    let broken = 0;
    registry.onRequest = (asked, response) => {
      if (!asked.includes('/blobs/') || broken++ > 0) return false;
      response.writeHead(200, { 'content-length': 10_000 }).write('{"', () => response.destroy());
      return true;
    };
    expect((await ensure(`${registry.host}/broken/app:1`)).ok).toBe(true);
    expect(registry.requests.filter((each) => each.endsWith(' bytes=2-'))).toHaveLength(1);
  });

  test.each<readonly [string, (asked: string) => Buffer | undefined, string]>([
    ['another blob than its digest says', (asked) => (asked.includes('/blobs/') ? Buffer.from('lies') : undefined), 'sha256:'],
    ['a manifest that is none', (asked) => (asked.includes('/manifests/') ? Buffer.from('{}') : undefined), 'neither an index nor a manifest'],
    ['a manifest without end', (asked) => (asked.includes('/manifests/') ? Buffer.alloc(9 << 20) : undefined), 'more than'],
  ])('of a registry that serves %s are refused, and nothing is seen of them', async (_, lieOf, message) => {
    const name = `lies/${digestOf(Buffer.from(message)).slice(7, 19)}`;
    add(name, message);
    registry.onRequest = (asked, response) => {
      const lie = lieOf(asked);
      if (lie !== undefined) response.writeHead(200).end(lie);
      return lie !== undefined;
    };
    const image = `${registry.host}/${name}:1`;
    expect(await ensure(image)).toMatchObject({ ok: false, reason: 'ErrImagePull', message: expect.stringContaining(message) });
    expect(await store.images.find(image)).toBeUndefined();
  });

  test.each([
    ['never answers', () => undefined],
    ['stops in the middle', (response: ServerResponse) => void response.writeHead(200, { 'content-length': 10_000 }).write('{')],
  ])('of a registry that %s: the error says so, and nothing is seen of them', async (name, answer) => {
    add('hangs/app', name);
    registry.onRequest = (_, response) => {
      answer(response);
      return true;
    };
    // Half a minute passes at once.
    const hurried = { ...timers, after: (ms: number, callback: () => void) => timers.after(ms === 30_000 ? 100 : ms, callback) };
    const impatient = new PulledImages({ images: store.images, platform: platformOfMachine(process.arch), timers: hurried, mirrors: new Map(), clock });
    const pod = newPod();
    const image = `${registry.host}/hangs/app:1`;
    const first = await impatient.ensure(pod, container(image), []);
    if (first.ok === 'pending') await first.done;
    const message = expect.stringContaining('has sent nothing for 30 s');
    expect(await impatient.ensure(pod, container(image), [])).toMatchObject({ ok: false, reason: 'ErrImagePull', message });
    expect(await store.images.find(image)).toBeUndefined();
  });

  test('of a registry that does not listen: the error says so', async () => {
    expect(await ensure('127.0.0.1:1/app:1')).toMatchObject({ reason: 'ErrImagePull', message: expect.stringContaining('failed to do request') });
  });
});
