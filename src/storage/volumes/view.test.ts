import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { available, pv, pvc } from '../../../test/storage/objects.ts';
import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import { readClaim, takesAnyVolume } from './claim.ts';
import { VolumesView } from './view.ts';

const bound = (name: string, volumeName: string) =>
  pvc(name, '1Gi', { metadata: { name, annotations: { [annotations.bindCompleted]: 'yes' } }, spec: { volumeName } });

describe('the view of volumes and claims', () => {
  it('offers no volume to a claim that another was bound to', () => {
    const view = new VolumesView();
    view.changeVolume(undefined, pv('vol', '1Gi', { status: available }));
    const claim = readClaim(pvc('data', '1Gi'));
    expect(view.bestFit(claim, { reservedOnly: false })?.name).toBe('vol');
    view.changeClaim(undefined, bound('first', 'vol'));
    expect(view.ownerOf('vol')?.key).toBe('default/first');
    expect(view.bestFit(claim, { reservedOnly: false })).toBeUndefined();
    view.changeClaim(bound('first', 'vol'), undefined);
    expect(view.bestFit(claim, { reservedOnly: false })?.name).toBe('vol');
  });

  it('skips volumes with a bind in flight', () => {
    const view = new VolumesView();
    view.changeVolume(undefined, pv('a', '1Gi', { status: available }));
    view.changeVolume(undefined, pv('b', '1Gi', { status: available }));
    const fitFor = (name: string, asker?: string) => view.bestFit(readClaim(pvc(name, '1Gi')), { reservedOnly: false }, asker)?.name;
    view.bindsInFlight.set('a', 'default/first');
    expect(fitFor('second')).toBe('b');
    expect(fitFor('first')).toBe('a');
    expect(fitFor('first', '')).toBe('b');
  });

  it('returns what a change changed', () => {
    const view = new VolumesView();
    expect(view.changeVolume(undefined, pv('vol', '1Gi'))).toMatchObject({ before: undefined, after: { phase: 'Pending' } });
    expect(view.changeVolume(pv('vol', '1Gi'), pv('vol', '1Gi', { status: available }))).toMatchObject({
      before: { phase: 'Pending' },
      after: { phase: 'Available' },
    });
    expect(view.changeVolume(pv('vol', '1Gi'), undefined)).toMatchObject({ before: { phase: 'Available' }, after: undefined });
    expect(view.volumes.size).toBe(0);
  });

  it('finds for every claim what a scan of all of them would find', () => {
    const names = ['a', 'b', 'c'];
    const claim = fc
      .record({
        name: fc.constantFrom(...names),
        volumeName: fc.constantFrom('', 'v1', 'v2'),
        className: fc.constantFrom('', 'x', 'y'),
        everBound: fc.boolean(),
      })
      .map(({ name, volumeName, className, everBound }) =>
        pvc(name, '1Gi', {
          metadata: { name, ...(everBound ? { annotations: { [annotations.bindCompleted]: 'yes' } } : {}) },
          spec: { storageClassName: className, ...(volumeName === '' ? {} : { volumeName }) },
        }),
      );
    const changes = fc.array(fc.oneof(claim, fc.constantFrom(...names)), { maxLength: 20 });
    fc.assert(
      fc.property(changes, (history) => {
        const view = new VolumesView();
        const model = new Map<string, PersistentVolumeClaim>();
        for (const change of history) {
          const name = typeof change === 'string' ? change : (change.metadata.name ?? '');
          view.changeClaim(model.get(name), typeof change === 'string' ? undefined : change);
          if (typeof change === 'string') model.delete(name);
          else model.set(name, change);
        }
        const all = [...model.values()].map(readClaim);
        const keys = (of: Iterable<string>) => [...of].sort();
        for (const volume of ['v1', 'v2']) {
          expect(keys(view.claimsNaming(volume))).toEqual(keys(all.filter(({ volumeName }) => volumeName === volume).map(({ key }) => key)));
          expect(view.ownerOf(volume) !== undefined).toBe(all.some(({ volumeName, everBound }) => everBound && volumeName === volume));
        }
        for (const name of ['', 'x', 'y']) {
          expect(keys(view.waitingOfClass(name))).toEqual(keys(all.filter((one) => takesAnyVolume(one) && one.className === name).map(({ key }) => key)));
        }
        expect(view.waiting.size).toBe(all.filter(takesAnyVolume).length);
      }),
    );
  });
});
