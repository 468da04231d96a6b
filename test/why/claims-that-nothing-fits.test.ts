import { describe, expect, test } from 'vitest';
import { available, defaultClass, pv, pvc, reservedFor, storageClass } from '../storage/objects.ts';
import { answer, bound, boundTo, explanation } from './explain-objects.ts';

const free = (name: string, size: string, more = {}) => pv(name, size, { status: available, ...more });
const ebs = { provisioner: 'ebs.csi.aws.com' };

describe('a claim that no volume fits', () => {
  test('none is large enough', () => {
    const objects = [
      pvc('data', '5Gi'),
      free('small', '1Gi'),
      free('larger', '2Gi'),
      pv('taken', '10Gi', { spec: boundTo('other'), status: { phase: 'Bound' } }),
      pvc('other', '10Gi', { ...bound, spec: { volumeName: 'taken' } }),
      storageClass('class'),
    ];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      No volume is large enough for 5Gi; pv/larger comes nearest. Volumes of StorageClass "class" are
      created by hand only.

        requests  5Gi, ReadWriteOnce, Filesystem, StorageClass "class"

      Considered 3 volumes; none fits:
        pv/larger  2Gi   RWO  class  Available  is too small: 2Gi, requested is at least 5Gi
        pv/small   1Gi   RWO  class  Available  is too small: 1Gi, requested is at least 5Gi
        pv/taken   10Gi  RWO  class  Bound      is bound to claim default/other

      What would change it:
        - create a volume of at least 5Gi with ReadWriteOnce in StorageClass "class"
        - create the claim again with a request of 2Gi or less: pv/larger would fit
            kubectl -n default delete pvc data

      Next: an administrator creates a volume that fits, or changes one; it is bound at once.
      "
    `);
  });

  test('a volume created by hand is too small, and its StorageClass is a name only: the size is the reason', () => {
    const manual = { spec: { storageClassName: 'manual' } };
    const explained = explanation('pvc/data', [pvc('data', '5Gi', manual), free('small', '1Gi', manual), storageClass('standard', ebs)]);
    expect(explained).toMatchObject({
      code: 'NoVolumeFits',
      summary: 'No volume is large enough for 5Gi; pv/small comes nearest. There is no StorageClass "manual" that could provision one.',
      candidates: [{ name: 'pv/small', refusals: [{ rule: 'capacity' }] }],
    });
    expect(explained.fixes.map(({ text }) => text)).toContain('create the claim again with a request of 1Gi or less: pv/small would fit');
  });

  describe('but a Released one would', () => {
    const released = (claimName: string) => pv('kept', '5Gi', { spec: boundTo(claimName), status: { phase: 'Released' } });

    test('of an earlier claim of the same name: it is given back with its data', () => {
      const { summary, fixes } = explanation('pvc/data', [pvc('data', '1Gi', { metadata: { uid: 'another' } }), released('data'), storageClass('class')]);
      expect(summary).toContain('pv/kept would fit, but is Released: it keeps its data and the reference to claim default/data, which is deleted.');
      expect(fixes).toContainEqual({
        text: 'give pv/kept back to the claim, with the data that the earlier claim of this name left on it',
        commands: [`kubectl patch pv kept --type json -p '[{"op":"remove","path":"/spec/claimRef/uid"}]'`],
      });
    });

    test('of another claim: only if its data is not needed', () => {
      const { summary, fixes } = explanation('pvc/data', [pvc('data', '1Gi'), released('old'), free('small', '1Mi'), storageClass('class')]);
      expect(summary).toContain('pv/kept would fit, but is Released');
      expect(fixes.map(({ commands }) => commands)).toContainEqual([`kubectl patch pv kept --type json -p '[{"op":"remove","path":"/spec/claimRef"}]'`]);
    });

    test('but not if it is too small as well', () => {
      expect(explanation('pvc/data', [pvc('data', '9Gi'), released('old'), storageClass('class')]).summary).not.toContain('would fit');
    });
  });

  test('none has the access mode', () => {
    expect(
      answer('pvc/data', [pvc('data', '1Gi', { spec: { accessModes: ['ReadWriteMany'] } }), free('one', '2Gi'), storageClass('class')]),
    ).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      No volume has the access modes that the claim requests; pv/one would fit otherwise. Volumes of
      StorageClass "class" are created by hand only.

        requests  1Gi, ReadWriteMany, Filesystem, StorageClass "class"

      Considered 1 volume; it does not fit:
        pv/one  2Gi  RWO  class  Available  offers ReadWriteOnce, not ReadWriteMany

      What would change it:
        - create a volume of at least 1Gi with ReadWriteMany in StorageClass "class"
        - add these access modes to pv/one, if its storage supports them
            kubectl patch pv one -p '{"spec":{"accessModes":["ReadWriteOnce","ReadWriteMany"]}}'

      Next: an administrator creates a volume that fits, or changes one; it is bound at once.
      "
    `);
  });

  test('every rule that refuses a volume is named', () => {
    const objects = [
      pvc('data', '5Gi', { metadata: { labels: { app: 'web' } }, spec: { selector: { matchLabels: { tier: 'gold' } }, volumeAttributesClassName: 'silver' } }),
      free('block', '9Gi', { metadata: { labels: { tier: 'gold' } }, spec: { volumeMode: 'Block', volumeAttributesClassName: 'silver' } }),
      free('elsewhere', '9Gi', { metadata: { labels: { tier: 'gold' } }, spec: { storageClassName: 'fast', volumeAttributesClassName: 'silver' } }),
      free('unlabelled', '9Gi', { spec: { volumeAttributesClassName: 'silver' } }),
      free('plain', '9Gi', { metadata: { labels: { tier: 'gold' } } }),
      free('picky', '9Gi', {
        metadata: { labels: { tier: 'gold' }, annotations: { 'mooring.dev/claim-selector': 'app=db' } },
        spec: { volumeAttributesClassName: 'silver' },
      }),
      free('terminating', '9Gi', {
        metadata: { labels: { tier: 'gold' }, deletionTimestamp: '2025-01-01T00:01:00Z' },
        spec: { volumeAttributesClassName: 'silver' },
      }),
      pv('reserved', '9Gi', {
        metadata: { labels: { tier: 'gold' } },
        status: available,
        spec: { volumeAttributesClassName: 'silver', claimRef: reservedFor('other') },
      }),
      pv('released', '9Gi', {
        metadata: { labels: { tier: 'gold' } },
        status: { phase: 'Released' },
        spec: { volumeAttributesClassName: 'silver', ...boundTo('gone') },
      }),
      free('everything', '1Gi', { spec: { accessModes: ['ReadOnlyMany'], storageClassName: '', volumeMode: 'Block' } }),
      storageClass('class'),
    ];
    const { candidates } = explanation('pvc/data', objects);
    expect(Object.fromEntries(candidates.map(({ name, refusals }) => [name, refusals.map(({ text }) => text).join('; ')]))).toMatchInlineSnapshot(`
      {
        "pv/block": "is a Block volume, not Filesystem",
        "pv/elsewhere": "has StorageClass "fast", the claim requires "class"",
        "pv/everything": "is too small: 1Gi, requested is at least 5Gi; is a Block volume, not Filesystem; has VolumeAttributesClass none, not "silver"; has no labels, the selector requires tier=gold; has no StorageClass, the claim requires "class"; offers ReadOnlyMany, not ReadWriteOnce",
        "pv/picky": "takes only a claim with app=db; this claim has app=web",
        "pv/plain": "has VolumeAttributesClass none, not "silver"",
        "pv/released": "is Released: it was bound to claim default/gone, which is deleted",
        "pv/reserved": "is reserved for claim default/other",
        "pv/terminating": "is being deleted",
        "pv/unlabelled": "has no labels, the selector requires tier=gold",
      }
    `);
    expect(candidates.at(-1)?.name).toBe('pv/everything');
  });

  test('without a storageClassName, and without a default StorageClass', () => {
    const objects = [pvc('data', '1Gi', { spec: { storageClassName: undefined as never } }), storageClass('fast', ebs)];
    expect(answer('pvc/data', objects)).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      There are no volumes at all. It has no storageClassName, and there is no default StorageClass to
      provision a volume from.

        requests  1Gi, ReadWriteOnce, Filesystem, no StorageClass

      What would change it:
        - create a volume of at least 1Gi with ReadWriteOnce without a StorageClass
        - make a StorageClass the default ("fast"): claims without a storageClassName get it at once
            kubectl annotate storageclass fast storageclass.kubernetes.io/is-default-class=true --overwrite

      Next: an administrator creates a volume that fits, or changes one; it is bound at once.
      "
    `);
  });

  test('for storageClassName "" no volume is ever provisioned', () => {
    expect(
      answer('pvc/data', [pvc('data', '1Gi', { spec: { storageClassName: '' } }), storageClass('fast', { ...ebs, metadata: defaultClass })]),
    ).toMatchInlineSnapshot(`
      "
      pvc/data in namespace default: Pending, for 5 minutes

      There are no volumes at all. Its storageClassName is "": only an existing volume without a
      StorageClass can be bound to it, and none is ever provisioned.

        requests  1Gi, ReadWriteOnce, Filesystem, StorageClass ""

      What would change it:
        - create a volume of at least 1Gi with ReadWriteOnce without a StorageClass
        - create the claim again with a StorageClass ("fast"), so that a volume can be provisioned
            kubectl -n default delete pvc data

      Next: an administrator creates a volume that fits, or changes one; it is bound at once.
      "
    `);
  });

  test('a volume whose claim selector is invalid: the fix is named', () => {
    const unreadable = free('disk', '1Gi', { metadata: { annotations: { 'mooring.dev/claim-selector': 'team in (' } } });
    const text = answer('pvc/data', [pvc('data', '1Gi'), unreadable, storageClass('class')]);
    expect(text).toContain('takes no claim: its claim selector is invalid (');
    expect(text).toContain('- correct the claim selector of pv/disk, or remove it\n      kubectl annotate pv disk mooring.dev/claim-selector-');
  });

  test('of hundreds of volumes the nearest are shown, the others counted', () => {
    const taken = Array.from({ length: 200 }, (_, i) => pv(`pv-${i}`, '10Gi', { spec: boundTo(`other-${i}`), status: { phase: 'Bound' } }));
    const text = answer('pvc/data', [pvc('data', '5Gi'), free('small', '1Gi'), ...taken, storageClass('class')]);
    expect(text).toContain('Considered 201 volumes; none fits:\n  pv/small');
    expect(text).toContain('… and 193 more: 193 taken or reserved');
    expect(text.split('\n').length).toBeLessThan(30);
  });
});
