/** The built-in controllers of a real `moor up`, with a driver that misbehaves: each claim is told, and everything else goes on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MoorProcess, runMoor, startMoor } from '../moor-process.ts';
import { type Behaviour, driverName, ScriptedController } from './scripted-controller.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'csi-built-in-'));
const endpoint = `unix://${directory}/csi.sock`;
const driver = new ScriptedController(endpoint);
let moor: MoorProcess;

const patience = { timeout: 120_000, interval: 500 };

beforeAll(async () => {
  await driver.start();
  moor = await startMoor({ args: ['--csi-endpoint', endpoint] });
});

afterAll(async () => {
  await moor[Symbol.asyncDispose]();
  await driver.stop();
  rmSync(directory, { recursive: true, force: true });
});

const storageClass = (name: string, parameters: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: driverName,
  parameters,
});
const claim = (name: string, storageClassName: string, more: object = {}, namespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace },
  spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
});

const apply = async (...objects: readonly object[]) =>
  expect(await moor.kubectlWith(objects.map((object) => JSON.stringify(object)).join('\n'), 'apply', '-f', '-')).toMatchObject({ code: 0 });
const read = async (what: string, jsonPath: string, namespace = 'default') =>
  (await moor.kubectl('get', '-n', namespace, what, '-o', `jsonpath={${jsonPath}}`)).stdout;
const phaseOf = (name: string, namespace = 'default') => read(`pvc/${name}`, '.status.phase', namespace);
const messagesFor = async (name: string) =>
  (await moor.kubectl('get', 'events', '--field-selector', `involvedObject.name=${name}`, '-o', 'jsonpath={range .items[*]}{.reason}: {.message}{"\\n"}{end}'))
    .stdout;

const expected: Readonly<Record<Behaviour, string>> = {
  hang: 'DeadlineExceeded',
  garbage: 'is no csi.v1.CreateVolumeResponse',
  flood: 'code = (Internal|ResourceExhausted|Unavailable)',
  small: 'created volume capacity 1 less than requested capacity 1073741824',
  steal: 'PersistentVolume',
  nameless: 'volume_id',
};
const behaviours = Object.keys(expected) as readonly Behaviour[];

test('each bad answer is an event of its claim, and other claims go on; once the driver is well, all are bound and nothing is left', async () => {
  await apply(storageClass('good'), claim('first', 'good'));
  await expect.poll(() => phaseOf('first'), patience).toBe('Bound');
  await apply(...behaviours.flatMap((does) => [storageClass(does, { does }), claim(does, does)]));
  await apply(claim('second', 'good'));
  await expect.poll(() => phaseOf('second'), patience).toBe('Bound');
  for (const does of behaviours) {
    await expect.poll(() => messagesFor(does), patience).toMatch(new RegExp(`ProvisioningFailed: .*${expected[does]}`));
    expect(await phaseOf(does), does).toBe('Pending');
  }
  // What a call came to is in the intent too, with the time of the next one.
  const uid = await read('pvc/hang', '.metadata.uid');
  await expect.poll(() => read(`volumeintents.mooring.dev/pvc-${uid}`, '.status.message'), patience).toContain('DeadlineExceeded');
  expect([...driver.volumes.keys()]).toEqual(expect.arrayContaining(['first', 'second'].map(() => expect.stringContaining('id-of-pvc-'))));
  driver.isHealed = true;
  await driver.stop();
  await driver.start();
  for (const does of behaviours) await expect.poll(() => phaseOf(does), patience).toBe('Bound');
  const audited = await runMoor('audit', '--kubeconfig', moor.kubeconfig, '--csi-endpoint', endpoint);
  expect(audited).toMatchObject({ code: 0, stdout: expect.stringContaining('Everything has an owner') });
});

test('the audit tells what the driver has lost, and what no object owns', async () => {
  driver.volumes.set('orphan', 'by hand');
  const [lost = ''] = driver.volumes.keys();
  driver.volumes.delete(lost);
  const audited = await runMoor('audit', '--kubeconfig', moor.kubeconfig, '--csi-endpoint', endpoint);
  driver.volumes.set(lost, '');
  driver.volumes.delete('orphan');
  expect(audited).toMatchObject({ code: 1, stdout: expect.stringContaining(`orphan (${driverName}): no PersistentVolume`) });
  expect(audited.stdout).toContain(`does not list volume ${lost}`);
});

test('a claim gets another VolumeAttributesClass, and is told of one that its driver refuses', async () => {
  const attributes = (name: string, parameters: object) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    metadata: { name },
    driverName,
    parameters,
  });
  await apply(attributes('gold', { iops: '100' }), attributes('wrong', { color: 'red' }));
  const want = (name: string) => moor.kubectl('patch', 'pvc', 'first', '-p', JSON.stringify({ spec: { volumeAttributesClassName: name } }));
  await want('gold');
  await expect.poll(() => read('pvc/first', '.status.currentVolumeAttributesClassName'), patience).toBe('gold');
  const volume = await read('pvc/first', '.spec.volumeName');
  expect(await read(`pv/${volume}`, '.spec.volumeAttributesClassName')).toBe('gold');
  expect(driver.modified.get(await read(`pv/${volume}`, '.spec.csi.volumeHandle'))).toEqual({ iops: '100' });
  await want('wrong');
  await expect.poll(() => read('pvc/first', '.status.modifyVolumeStatus.status'), patience).toBe('Infeasible');
  // Events follow the status.
  await expect.poll(() => messagesFor('first'), patience).toContain('VolumeModifyFailed: rpc error: code = InvalidArgument desc = iops is missing');
  await want('gold');
  await expect.poll(() => read('pvc/first', '.status.modifyVolumeStatus'), patience).toBe('');
});

test('a volume populator fills a volume of its own claim, and hands it over by its claimRef', async () => {
  const kind = { group: 'hello.example.com', kind: 'Hello' };
  await apply({ apiVersion: 'populator.storage.k8s.io/v1beta1', kind: 'VolumePopulator', metadata: { name: 'hello' }, sourceKind: kind });
  await apply(claim('filled', 'good', { dataSourceRef: { apiGroup: kind.group, kind: kind.kind, name: 'world' } }));
  await expect.poll(() => messagesFor('filled'), patience).toContain('Provisioning: Assuming an external populator will provision the volume');
  const [uid, resourceVersion] = [await read('pvc/filled', '.metadata.uid'), await read('pvc/filled', '.metadata.resourceVersion')];
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'populator' } }, claim(`prime-${uid}`, 'good', {}, 'populator'));
  await expect.poll(() => phaseOf(`prime-${uid}`, 'populator'), patience).toBe('Bound');
  expect(await phaseOf('filled')).toBe('Pending');
  const volume = await read(`pvc/prime-${uid}`, '.spec.volumeName', 'populator');
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'filled', uid, resourceVersion };
  await moor.kubectl('patch', 'pv', volume, '--type=merge', '-p', JSON.stringify({ spec: { claimRef } }));
  await expect.poll(() => phaseOf('filled'), patience).toBe('Bound');
  await expect.poll(() => phaseOf(`prime-${uid}`, 'populator'), patience).toBe('Lost');
  expect(await moor.kubectl('delete', 'pvc', '-n', 'populator', `prime-${uid}`)).toMatchObject({ code: 0 });
  expect([await read('pvc/filled', '.spec.volumeName'), await phaseOf('filled')]).toEqual([volume, 'Bound']);
  expect(driver.volumes.has(await read(`pv/${volume}`, '.spec.csi.volumeHandle'))).toBe(true);
});

test('a ReferenceGrant is checked as upstream’s definition does', async () => {
  const grant = (to: object) => ({
    apiVersion: 'gateway.networking.k8s.io/v1beta1',
    kind: 'ReferenceGrant',
    metadata: { name: 'grant', namespace: 'default' },
    spec: { from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: 'populator' }], to: [to] },
  });
  const refused = await moor.kubectlWith(JSON.stringify(grant({ group: 'Not A Group', kind: 'Backup' })), 'apply', '-f', '-');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('spec.to[0].group') });
  await apply(grant({ group: '', kind: 'PersistentVolumeClaim' }));
});
