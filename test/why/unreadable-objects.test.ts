import { describe, expect, test } from 'vitest';
import { decode } from '../../src/api/schema/decode.ts';
import { type Random, randomObject, seededRandom } from '../../src/api/schema/random-object.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { explain } from '../../src/why/explain.ts';
import { duration, render } from '../../src/why/explanation/render.ts';
import { parseTarget } from '../../src/why/explanation/target.ts';
import { pod, pv, pvc, storageClass } from '../storage/objects.ts';
import { answer, bound, boundTo, disk, explanation, node, now, objectsOf, onNode } from './explain-objects.ts';

describe('what may not be read', () => {
  const web = pod('web', ['data'], onNode('n1'));

  test('is named, and nothing is concluded from it', () => {
    const blind = explanation('pvc/data', [pvc('data', '1Gi')], { without: ['volumes', 'classes', 'nodes', 'pods'] });
    expect(blind.code).toBe('ClassUnseen');
    expect(render(blind, { colour: false, width: 100 })).toContain('Could not read volumes: forbidden\n');
  });

  test('a bound claim is explained by its own status', () => {
    const claim = pvc('data', '1Gi', { ...bound, spec: { volumeName: 'disk' } });
    expect(explanation('pvc/data', [claim], { without: ['volumes'] })).toMatchObject({ verdict: 'fine', code: 'Bound' });
  });

  test('so is a volume whose claim could not be read', () => {
    const volume = pv('disk', '1Gi', { spec: boundTo('data'), status: { phase: 'Bound' } });
    expect(explanation('pv/disk', [volume], { without: ['claims'] })).toMatchObject({ verdict: 'fine', code: 'Bound' });
  });

  test('a terminating claim may be used by pods that could not be read', () => {
    const terminating = pvc('data', '1Gi', { metadata: { deletionTimestamp: '2025-01-01T00:04:00Z', finalizers: ['kubernetes.io/pvc-protection'] } });
    expect(explanation('pvc/data', [terminating], { without: ['pods'] })).toMatchObject({ code: 'DeletionWaits' });
  });

  test('a provisioner is not called absent if CSIDrivers could not be read', () => {
    const objects = [pvc('data', '1Gi'), storageClass('class', { provisioner: 'ebs.csi.aws.com' })];
    expect(explanation('pvc/data', objects, { without: ['drivers', 'csiNodes'] })).toMatchObject({ code: 'ExternalProvisioning', verdict: 'waiting' });
  });

  test('a pod whose claims could not be read', () => {
    expect(explanation('pod/web', [web], { without: ['claims'] })).toMatchObject({ code: 'ClaimsUnseen' });
  });

  test('a pod on a node, without attachments', () => {
    const objects = [
      pod('web', ['data'], onNode('n1', 'Pending')),
      pvc('data', '1Gi', { ...bound, spec: { volumeName: 'disk' } }),
      pv('disk', '1Gi', { spec: { ...boundTo('data'), ...disk('vol-1') }, status: { phase: 'Bound' } }),
      node('n1'),
    ];
    expect(explanation('pod/web', objects, { without: ['attachments'] })).toMatchObject({ code: 'Starting' });
  });
});

describe('an object that does not exist', () => {
  test('names the nearest', () => {
    expect(answer('pvc/dta', [pvc('data', '1Gi'), pvc('logs', '1Gi')])).toMatchInlineSnapshot(`
      "
      pvc/dta in namespace default: NotFound

      There is no pvc/dta in namespace default. Is pvc/data meant?

      What would change it:
        - explain pvc/data
            moor why pvc/data -n default

      Next: you check the name: data.
      "
    `);
  });

  test('names the namespace that has one', () => {
    expect(explanation('pvc/data', [], { elsewhere: ['shop'] })).toMatchObject({
      verdict: 'absent',
      summary: 'There is no pvc/data in namespace default. There is one in namespace shop.',
      fixes: [{ text: 'explain the one in namespace shop', commands: ['moor why pvc/data -n shop'] }],
    });
  });

  test('of a cluster with nothing in it', () => {
    expect(explanation('pv/x', [])).toMatchObject({ state: 'NotFound', code: 'NotFound', since: null });
  });
});

describe('the target', () => {
  test.each([
    [['pvc/data'], { kind: 'pvc', namespace: 'shop', name: 'data' }],
    [['pvc', 'data'], { kind: 'pvc', namespace: 'shop', name: 'data' }],
    [['persistentvolumeclaim/data'], { kind: 'pvc', namespace: 'shop', name: 'data' }],
    [['PV/one'], { kind: 'pv', name: 'one' }],
    [['volumeattachment.storage.k8s.io/csi-1'], { kind: 'va', name: 'csi-1' }],
    [['data'], 'the target is pvc, pv, pod, va, sts, deploy, job, node, sc, driver, ns, quota or vs, with /NAME, not "data"'],
    [['svc/data'], 'the target is pvc, pv, pod, va, sts, deploy, job, node, sc, driver, ns, quota or vs, with /NAME, not "svc/data"'],
    [['pvc/'], 'the target has one name: pvc/NAME, not "pvc/"'],
    [['pvc/a', 'b'], 'the target has one name: pvc/NAME, not "pvc/a b"'],
  ])('%j', (words, target) => {
    expect(parseTarget(words, 'shop')).toEqual(target);
  });
});

describe('on a terminal', () => {
  const claim = pvc('data', '1Gi', { spec: { volumeName: 'disk\u001b]0;evil\u0007' } });

  test('colours are optional', () => {
    const explained = explanation('pvc/data', [pvc('data', '1Gi'), storageClass('class')]);
    expect(render(explained, { colour: true, width: 100 })).toContain('\u001b[31mPending\u001b[0m');
    expect(render(explained, { colour: false, width: 100 })).not.toContain('\u001b');
  });

  test('objects send no control characters', () => {
    const text = render(explanation('pvc/data', [claim]), { colour: false, width: 100 });
    for (const control of ['\u0007', '\u001b']) expect(text).not.toContain(control);
  });

  test('lines are wrapped at its width, but commands are not', () => {
    const lines = render(
      explanation('pvc/data', [
        pvc('data', '1Gi', { spec: { accessModes: ['ReadWriteMany'] } }),
        pv('one', '2Gi', { status: { phase: 'Available' } }),
        storageClass('class'),
      ]),
      {
        colour: true,
        width: 60,
      },
    ).split('\n');
    // oxlint-disable-next-line no-control-regex -- colours take no room
    const printed = lines.map((line) => line.replace(/\u001b\[\d+m/g, ''));
    expect(printed.filter((line) => line.length > 60 && !/kubectl|pv\//.test(line))).toEqual([]);
    expect(printed).toContain(`      kubectl patch pv one -p '{"spec":{"accessModes":["ReadWriteOnce","ReadWriteMany"]}}'`);
  });

  test.each([
    [0, '0 seconds'],
    [1000, '1 second'],
    [119_000, '119 seconds'],
    [120_000, '2 minutes'],
    [7_199_000, '119 minutes'],
    [7_200_000, '2 hours'],
    [3 * 86_400_000, '3 days'],
  ])('%d ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});

/** All objects of a cluster may be random, and refer to each other. */
test('random objects are explained', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seededRandom(seed);
    const strange = types.flatMap((type) => Array.from({ length: 3 }, (_, i) => strangeObject(type, `x${i}`, random)));
    for (const kind of ['pvc', 'pv', 'pod', 'va'] as const) {
      const explained = explain({ kind, namespace: 'default', name: 'x1' }, objectsOf(strange), now);
      expect(render(explained, { colour: false, width: 100 }), `${kind}, seed ${seed}`).toMatch(/^(pvc|pv|pod|va)\/x1.*: \S+/);
    }
  }
});

const types = ['PersistentVolumeClaim', 'PersistentVolume', 'Pod', 'StorageClass', 'Node', 'VolumeAttachment', 'CSIDriver', 'CSINode'];

function strangeObject(type: string, name: string, random: Random): KubeObject {
  const { object } = decode<KubeObject & { spec?: object }>(type, randomObject(type, random));
  const some = () => `x${random(4)}`;
  const links: Readonly<Record<string, object>> = {
    PersistentVolumeClaim: { volumeName: some(), storageClassName: some() },
    PersistentVolume: { claimRef: { namespace: 'default', name: some(), ...(random(2) === 0 ? {} : { uid: some() }) }, storageClassName: some() },
    Pod: { nodeName: random(2) === 0 ? '' : some(), volumes: [{ name: 'a', persistentVolumeClaim: { claimName: some() } }] },
    VolumeAttachment: { nodeName: some(), source: { persistentVolumeName: some() } },
  };
  const spec = random(3) === 0 ? {} : (links[type] ?? {});
  return {
    ...object,
    kind: type,
    metadata: { ...object.metadata, namespace: 'default', name, uid: name },
    ...(object.spec === undefined ? {} : { spec: { ...object.spec, ...spec } }),
  };
}
