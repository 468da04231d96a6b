/** The steps of a scenario are performed, and its expectations are checked. */
import { expect, test } from 'vitest';
import { ScenarioFileError } from '../../src/sim/scenario/language/located-yaml.ts';
import { reportAsJson } from '../../src/sim/scenario/render-report.ts';
import { lines, play } from './scenarios.ts';

const claim = (name: string, more = '') =>
  `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: ${name}}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}${more}}}`;
const pod = (name: string, claimName: string) =>
  `{apiVersion: v1, kind: Pod, metadata: {name: ${name}}, spec: {containers: [{name: a, image: a}], volumes: [{name: v, persistentVolumeClaim: {claimName: ${claimName}}}]}}`;
const fast = (more = '') => `storageClasses: [{name: fast, binding: Immediate${more}}]`;

test('same file and seed: same output, byte for byte; another seed: another order', async () => {
  const text = `cluster: {nodes: 2, ${fast()}}\nobjects: [${claim('a')}, ${claim('b')}, ${pod('x', 'a')}]\nscript: [at 20s node-1 dies for 30s]\nfor: 2m`;
  const [once, again, other] = [await play(text, { seed: 5 }), await play(text, { seed: 5 }), await play(text, { seed: 6 })];
  expect(once.text).toBe(again.text);
  expect(reportAsJson(once)).toBe(reportAsJson(again));
  expect(other.text).not.toBe(once.text);
});

test('a failed expectation is reported, with what was found', async () => {
  const { text, surprises } = await play(`
cluster: { nodes: 1, ${fast()} }
objects: [${claim('data')}]
expect:
  - at 10s pvc/data is Bound
  - at 10s pvc/data is not Bound
  - at 10s pvc/data has 2Gi
  - at 10s pvc/other exists
  - by 10s event Nothing on pvc/data
  - never pvc/data is Bound
  - always after 10s pvc/data is Bound
  - at 10s there are 2 pv
  - at the end disks.example.com holds 1 disk
for: 20s`);
  expect(surprises).toEqual([
    'at 10s pvc/data is not Bound: it is Bound',
    'at 10s pvc/data has 2Gi: it has 1Gi',
    'at 10s pvc/other exists: it does not exist',
    'by 10s event Nothing on pvc/data: there are ExternalProvisioning, ProvisioningSucceeded',
    'never pvc/data is Bound: at 2s it is Bound',
    expect.stringMatching(/^at 10s there are 2 pv: there are 1: pv\/pvc-/),
  ]);
  expect(text).toContain('✓ at 10s pvc/data is Bound\n✗ at 10s pvc/data is not Bound\n    it is Bound\n');
  expect(text).toMatch(/\n6 of 9 not as expected \(seed 1\)\n$/);
});

test('a backend fails so many times, is slow for a while, and recovers', async () => {
  const played = await play(`
cluster: { nodes: 1, ${fast()} }
script:
  - at 0s disks.example.com fails to create 2 times with ResourceExhausted saying "no room in the rack"
  - { at: 1s, apply: ${claim('a')} }
  - at 1m disks.example.com takes 20s to create for 1m
  - { at: 1m1s, apply: ${claim('b')} }
  - at 3m disks.example.com is down
  - { at: 3m1s, apply: ${claim('c')} }
  - at 4m disks.example.com recovers
expect:
  - by 10s event ProvisioningFailed on pvc/a saying "no room in the rack"
  - by 30s pvc/a is Bound
  - at 1m20s pvc/b is Pending
  - at 1m22s pvc/b is Bound
  - at 4m pvc/c is Pending
  - by 6m pvc/c is Bound`);
  expect(played.surprises).toEqual([]);
  expect(played.timeline.find(({ type }) => type === 'failure')).toMatchObject({ who: 'disks.example.com', times: 2 });
  expect(lines(played)).toContain('▶ disks.example.com is as fast as before');
});

test('a zone goes dark with its nodes and its disks, and comes back', async () => {
  const { surprises } = await play(`
cluster: { zones: [zone-a, zone-b], nodes: 2, storageClasses: [{ name: fast, zones: [zone-a] }] }
objects: [${claim('a')}, ${pod('x', 'a')}]
script:
  - at 30s zone-a goes dark for 2m
  - { at: 40s, apply: ${claim('b')} }
  - { at: 40s, apply: ${pod('y', 'b')} }
expect:
  - at 29s pod/x is Running on a node in zone-a
  - at 2m node/node-1 is NotReady
  - at 2m node/node-2 is Ready
  - always after 41s before 2m30s pvc/b is Pending
  - by 5m node/node-1 is Ready
  - by 5m pod/y is Running on node-1
for: 5m`);
  expect(surprises).toEqual([]);
});

test('nodes join, are cordoned, drained, labelled, tainted and removed', async () => {
  const played = await play(`
cluster: { zones: [zone-a], nodes: 1 }
objects:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: { name: web }
    spec: { replicas: 2, selector: { matchLabels: { a: b } }, template: { metadata: { labels: { a: b } }, spec: { containers: [{ name: a, image: a }] } } }
script:
  - at 10s node-2 joins
  - at 20s drain node-1
  - at 30s uncordon node-1
  - at 30s label node/node-1 tier=gold
  - at 40s taint node-2 maintenance=now:NoExecute
  - at 50s untaint node-2 maintenance
  - at 1m remove node-2
  - at 65s node-2 joins
  - at 65s node-3 joins in zone-new
  - at 1m10s scale deployment/web to 3
expect:
  - at 9s there are 2 pods that are Running
  - at 25s node/node-1 is SchedulingDisabled
  - at 39s deployment/web has 2 ready
  - at 35s node/node-1 field .metadata.labels.tier is gold
  - at 55s deployment/web has 2 ready
  - at the end node/node-2 is gone
  - at the end node/node-3 field .metadata.labels[topology.kubernetes.io/zone] is zone-new
  - at the end deployment/web has 3 ready`);
  expect(played.surprises).toEqual([]);
  expect(lines(played)).toEqual(
    expect.arrayContaining(['node-2 node/node-2 joins the cluster', 'you node/node-1 is cordoned', 'you node/node-1 is uncordoned']),
  );
  expect(lines(played)).toContain('you refused: a node node-2 exists or existed: choose another name');
});

test('claims are expanded, refusals are reported, and the simulation goes on', async () => {
  const played = await play(`
cluster: { nodes: 1, ${fast(', expand: true')} }
objects: [${claim('data')}, ${pod('x', 'data')}]
script:
  - at 10s resize pvc/data to 5Gi
  - at 20s resize pvc/data to 2Gi
  - { at: 30s, patch: pvc/data, with: { metadata: { labels: { tier: gold } } } }
  - at 40s delete pod/missing
expect:
  - at 19s pvc/data has 5Gi
  - at the end pvc/data has 5Gi
  - at the end pvc/data field .metadata.labels.tier is gold`);
  expect(played.surprises).toEqual([]);
  const refusals = lines(played).filter((line) => line.startsWith('you refused'));
  expect(refusals).toEqual([expect.stringContaining('field can not be less than'), 'you refused: pods "missing" not found']);
});

test('the server crashes: requests fail, and everything goes on when it is back', async () => {
  const played = await play(`
cluster: { nodes: 1, ${fast()} }
script:
  - at 10s the server crashes for 30s
  - { at: 20s, apply: ${claim('early')} }
  - { at: 50s, apply: [${claim('late')}, ${pod('x', 'late')}] }
expect:
  - at the end pvc/early is gone
  - by 1m30s pod/x is Running
  - at the end node/node-1 is Ready`);
  expect(played.surprises).toEqual([]);
  expect(lines(played)).toEqual(expect.arrayContaining(['you refused: the server is down', '▶ the server is back']));
});

test('the scheduler crashes: pods wait until it is back', async () => {
  const { surprises } = await play(`
cluster: { nodes: 1, ${fast()} }
script:
  - at 0s the scheduler crashes for 1m
  - { at: 5s, apply: [${claim('a')}, ${pod('x', 'a')}] }
expect:
  - always after 6s before 59s pod/x is Pending
  - by 1m30s pod/x is Running`);
  expect(surprises).toEqual([]);
});

test('a node has no more volumes than its attach limit', async () => {
  const { surprises } = await play(`
cluster: { zones: [zone-a], nodes: 1, attachLimit: 1, ${fast()} }
objects: [${claim('a')}, ${claim('b')}, ${pod('x', 'a')}]
script:
  - { at: 20s, apply: ${pod('y', 'b')} }
  - at 40s the node of pod/x dies
expect:
  - by 30s event FailedScheduling on pod/y saying "exceed max volume count"
  - at the end pod/y is Pending
  - by 2m node/node-1 is NotReady`);
  expect(surprises).toEqual([]);
});

test('a refusal of the server names the position in the file', async () => {
  const text = `objects:
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: { name: data }
    spec:
      accessModes: [ReadWriteSometimes]
      resources:
        requests: { storage: 1Gi }
`;
  await expect(play(text)).rejects.toThrow(ScenarioFileError);
  await expect(play(text)).rejects.toThrow(
    /^scenario\.yaml:6:\d+: objects\[0\]\.spec\.accessModes: PersistentVolumeClaim "data" is invalid: spec\.accessModes: Unsupported value/,
  );
  await expect(play(text.replace('accessModes: [ReadWriteSometimes]', 'accesModes: []'))).rejects.toThrow(
    /^scenario\.yaml:6:\d+: .*unknown field "spec\.accesModes"/,
  );
});

test.each([
  ['script: [at 1m node-9 dies]', 'scenario.yaml:1:10: script[0]: there is no node "node-9"; did you mean "node-1"?'],
  ['script: [at 1m zone-x goes dark]', 'there is no zone "zone-x"; did you mean "zone-a"?'],
  ['script: [at 1m disk.example.com recovers]', 'there is no driver "disk.example.com"; did you mean "disks.example.com"?'],
  ['expect: [at 1m pod/a is Running on elsewhere]', 'expect[0]: there is no node "elsewhere"; there are node-1, node-2, node-3'],
])('%s: unknown names are refused', async (text, message) => {
  await expect(play(text)).rejects.toThrow(message);
});

test('names send no control characters to the terminal', async () => {
  const { text } = await play(`cluster: { nodes: 1 }\nscript: ["at 1s delete pod/\\e[31mred"]`);
  expect(text).not.toContain('\u001b');
});
