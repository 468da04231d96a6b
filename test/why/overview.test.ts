import { expect, test } from 'vitest';
import { renderOverview } from '../../src/why/explanation/render.ts';
import { pod, pv, pvc, storageClass } from '../storage/objects.ts';
import { boundTo, node, notReady, overview } from './explain-objects.ts';

const stuckClaim = pvc('data', '5Gi', { spec: { storageClassName: '' } });
const kept = pv('kept', '1Gi', { spec: { ...boundTo('old'), persistentVolumeReclaimPolicy: 'Retain' }, status: { phase: 'Released' } });
const names = (objects: Parameters<typeof overview>[0]) => overview(objects).stuck.map(({ about }) => `${about.kind}/${about.name}`);

test('nothing is stuck', () => {
  const objects = [node('n1'), storageClass('class')];
  expect(overview(objects)).toMatchObject({ stuck: [], waiting: [] });
  expect(renderOverview(overview(objects), { colour: false, width: undefined })).toBe('Nothing is stuck.\n');
});

test('the worst comes first: nodes, then what runs, then claims, and kept volumes last', () => {
  const unplaced = pod('web', [], { spec: { nodeSelector: { disk: 'fast' } } });
  expect(names([kept, stuckClaim, unplaced, node('n1', { status: notReady }), node('n2')])).toEqual(['node/n1', 'pod/web', 'pvc/data', 'pv/kept']);
});

test('of two of a kind, the older comes first', () => {
  const older = pvc('z-older', '5Gi', { metadata: { creationTimestamp: '2024-12-31T00:00:00Z' }, spec: { storageClassName: '' } });
  expect(names([stuckClaim, older])).toEqual(['pvc/z-older', 'pvc/data']);
});

test('what waits as it should is counted, not listed', () => {
  const later = pvc('later', '1Gi', { spec: { storageClassName: 'slow' } });
  const objects = [later, storageClass('slow', { provisioner: 'x', volumeBindingMode: 'WaitForFirstConsumer' })];
  expect(overview(objects).waiting.map(({ code }) => code)).toEqual(['WaitForFirstConsumer']);
  expect(renderOverview(overview(objects), { colour: false, width: undefined })).toContain('1 object waits for a component or a user, as it should.');
});

test('one line each, cut to the width of the terminal', () => {
  const text = renderOverview(overview([stuckClaim, kept]), { colour: false, width: 80 });
  expect(text).toMatchInlineSnapshot(`
    "pvc/data -n default  Pending   5 minutes  No volume fits. Its storageClassName …
    pv/kept              Released  -          Claim default/old of the volume was d…

    2 objects stuck. "moor why KIND/NAME -n NAMESPACE" says more.
    "
  `);
  expect(
    Math.max(
      ...text
        .split('\n')
        .slice(0, 2)
        .map((line) => line.length),
    ),
  ).toBe(80);
});

test('what could not be read is named', () => {
  expect(renderOverview(overview([], { without: ['nodes'] }), { colour: false, width: undefined })).toContain('Could not read nodes: forbidden');
});
