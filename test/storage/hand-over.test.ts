/** Binder and provisioner: whatever the one leaves undone, it leaves to the other, and says so. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide as decideProvisioning, lacksMigratedTo } from '../../src/storage/provisioner/decide.ts';
import { decideClaim } from '../../src/storage/binder/decide.ts';
import { annotations } from '../../src/api/volumes/annotations.ts';
import { defaultClassOf } from '../../src/api/volumes/storage-class.ts';
import { VolumesView } from '../../src/storage/volumes/view.ts';
import { available, defaultClass, pv, pvc, storageClass } from './objects.ts';
import { hostPathDriver } from './fake-backend.ts';

const classes = [
  storageClass('static'),
  storageClass('usual', { provisioner: 'kubernetes.io/host-path', metadata: defaultClass }),
  storageClass('outside', { provisioner: 'csi.example.com' }),
  storageClass('delayed', { provisioner: 'kubernetes.io/host-path', volumeBindingMode: 'WaitForFirstConsumer' }),
];
const className = fc.constantFrom<string | undefined>('static', 'usual', 'outside', 'delayed', 'missing', '', undefined);
const size = fc.constantFrom('1Gi', '2Gi');

const worlds = fc.record({
  volumes: fc.array(fc.record({ size, className, givenTo: fc.constantFrom(undefined, 'default/data', 'default/other') }), { maxLength: 3 }),
  size,
  className,
  volumeName: fc.constantFrom(undefined, undefined, undefined, 'v0'),
  marks: fc.dictionary(
    fc.constantFrom(annotations.selectedNode, annotations.bindCompleted, annotations.storageProvisioner),
    fc.constantFrom('node', 'csi.example.com', 'kubernetes.io/aws-ebs'),
  ),
});

test('where the binder neither acts nor calls the provisioner, there is nothing to provision', () => {
  fc.assert(
    fc.property(worlds, ({ volumes, marks, volumeName, ...asked }) => {
      const view = new VolumesView();
      for (const [i, { size: offered, className: of, givenTo }] of volumes.entries()) {
        view.changeVolume(undefined, pv(`v${i}`, offered, { spec: { storageClassName: of ?? '' }, status: available }));
        if (givenTo !== undefined) view.bindsInFlight.set(`v${i}`, givenTo);
      }
      const { storageClassName: _, ...spec } = pvc('data', asked.size).spec;
      const named = {
        ...spec,
        ...(asked.className === undefined ? {} : { storageClassName: asked.className }),
        ...(volumeName === undefined ? {} : { volumeName }),
      };
      view.changeClaim(undefined, { ...pvc('data', asked.size, { metadata: { annotations: marks } }), spec: named });
      const claim = view.claim('default/data');
      if (claim === undefined) throw new Error('the view lost the claim');
      const snapshot = {
        lastEvent: () => undefined,
        volume: (name: string) => view.volumes.get(name),
        class: (name: string) => classes.find(({ metadata }) => metadata.name === name),
        bestFit: (of: typeof claim, fit: { readonly reservedOnly: boolean }) => view.bestFit(of, fit),
      };
      const bound = decideClaim(
        claim,
        {
          ...snapshot,
          mode: 'transaction',
          claim: (key) => view.claim(key),
          ownerOf: (name) => view.ownerOf(name),
          defaultClass: () => defaultClassOf(classes),
          offeredTo: () => undefined,
          podsToSchedule: () => [],
        },
        0,
      );
      if (bound.actions.length > 0 || bound.reasons.some(({ next }) => next === 'provisioner') || lacksMigratedTo(claim)) return;
      const driver = (name: string) => (name === hostPathDriver.name ? hostPathDriver : undefined);
      const provisioned = decideProvisioning({ claim, intents: [], snapshot: { ...snapshot, hasNode: () => true, driver } }, 0);
      expect(provisioned.actions).toEqual([]);
      expect(provisioned.again).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
