import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { expectations, timePhrases, readExpectation } from './expectation.ts';
import { scriptSteps } from './script-step.ts';
import { readScenario } from './read-scenario.ts';

const read = (text: string, files: Readonly<Record<string, string>> = {}) =>
  readScenario({
    file: 'x.yaml',
    text,
    open: (name) => {
      const found = files[name];
      if (found === undefined) throw new Error('no such file');
      return found;
    },
  });

const guide = readFileSync(new URL('../../../../docs/SIMULATE.md', import.meta.url), 'utf8');

test.each(scriptSteps.phrases)('what may happen: $example', ({ example, pattern }) => {
  expect(scriptSteps.read(example)).toHaveProperty('type');
  expect(guide).toContain(`\`${pattern.replaceAll('|', '\\|')}\``);
});

test.each(expectations.phrases)('what may be expected: $example', ({ example, pattern }) => {
  expect(expectations.read(example)).toHaveProperty('type');
  expect(guide).toContain(`\`${pattern.replaceAll('|', '\\|')}\``);
});

test.each(timePhrases)('when: $example', ({ example, pattern }) => {
  expect(readExpectation(example)).toHaveProperty('when.type');
  expect(guide).toContain(`\`${pattern}\``);
});

test('an empty scenario has a node in each of three zones, and a driver', () => {
  const { cluster, lastsMs, seed } = read('script: []');
  expect(cluster.nodes.map(({ name, zone }) => `${name} ${zone}`)).toEqual(['node-1 zone-a', 'node-2 zone-b', 'node-3 zone-c']);
  expect(cluster.drivers.map(({ name }) => name)).toEqual(['disks.example.com']);
  expect({ lastsMs, seed }).toEqual({ lastsMs: 120_000, seed: 1 });
});

test('it lasts two minutes longer than its last step or expectation', () => {
  expect(read('script: [at 5m zone-a goes dark for 10m]').lastsMs).toBe(17 * 60_000);
  expect(read('expect: [at 20m there are 0 pods]').lastsMs).toBe(22 * 60_000);
  expect(read('for: 1h').lastsMs).toBe(3_600_000);
});

test('phrases and fields are equivalent', () => {
  const [a, b] = read('script: [at 2m node-1 dies, {at: 2m, do: node-1 dies}]').script;
  expect(a?.step).toEqual(b?.step);
  const [c, d] = read('expect: [at 8m pvc/data is Bound, {at: 8m, that: pvc/data is Bound}]').expectations;
  expect(c?.statement).toEqual(d?.statement);
  expect(c?.when).toEqual(d?.when);
});

test('a colon after the time is allowed', () => {
  const pod = '{apiVersion: v1, kind: Pod, metadata: {name: a}}';
  const { script, expectations: expected } = read(
    `script:\n  - at 2m: node-1 dies\n  - at 3m apply: ${pod}\n  - at 4m patch pvc/data -n shop: {spec: {}}\nexpect:\n  - at 8m: pvc/data is Bound\n  - never: pvc/data is Lost`,
  );
  expect(script.map(({ text }) => text)).toEqual(['node-1 dies', 'apply pod/a', 'patch pvc/data -n shop with {"spec":{}}']);
  expect(expected.map(({ text }) => text)).toEqual(['at 8m pvc/data is Bound', 'never pvc/data is Lost']);
});

test('YAML merges are understood', () => {
  const { cluster } = read('cluster:\n  nodes:\n    - &a { name: a, zone: zone-b }\n    - { <<: *a, name: b }');
  expect(cluster.nodes.map(({ name, zone }) => `${name} ${zone}`)).toEqual(['a zone-b', 'b zone-b']);
});

test('steps are sorted by time', () => {
  expect(read('script: [at 2m node-1 dies, at 1m cordon node-1]').script.map(({ text }) => text)).toEqual(['cordon node-1', 'node-1 dies']);
});

test('objects come from the section, from files, and from further documents', () => {
  const claim = (name: string) => `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: ${name}}}`;
  const text = `files: [more.yaml]\nobjects: [${claim('a')}]\n---\n${claim('b')}\n---\n`;
  const { objects } = read(text, { 'more.yaml': `${claim('c')}\n---\n${claim('d')}\n` });
  expect(objects.map(({ object }) => `${object.metadata.namespace} ${object.metadata.name}`)).toEqual(['default c', 'default d', 'default a', 'default b']);
});

test.each([
  ['', 'x.yaml:1:1: the file is empty'],
  ['a: [', 'x.yaml:1:5: invalid YAML: '],
  ['- 1', 'x.yaml:1:1: fields are expected here, not a list'],
  ['scirpt: []', 'x.yaml:1:1: scirpt: there is no such field; did you mean "script"?'],
  ['cluster:\n  zone: a', 'x.yaml:2:3: cluster.zone: there is no such field; did you mean "zones"?'],
  ['cluster:\n  nodes: many', 'x.yaml:2:10: cluster.nodes: a whole number from 0 to 500 is expected here, not "many"'],
  ['cluster:\n  nodes: 2\n  nodesPerZone: 2', 'x.yaml:3:17: cluster.nodesPerZone: nodes gives the number already'],
  ['cluster:\n  nodes: [{name: a}, {name: a}]', 'x.yaml:2:29: cluster.nodes[1].name: there are two nodes "a"'],
  ['cluster:\n  nodes: [{taints: [a=b:NoExcute]}]', 'x.yaml:2:21: cluster.nodes[0].taints[0]: "NoExcute" is no effect of a taint; did you mean "NoExecute"?'],
  ['cluster:\n  capacity: {cpu: lots}', 'x.yaml:2:3: cluster: "lots" is not a valid quantity of cpu'],
  ['cluster:\n  drivers: [{name: d.example.com, attach: later}]', 'x.yaml:2:43: cluster.drivers[0].attach: "later" is no time; one is 90s, 6m30s or 1h'],
  ['cluster:\n  storageClasses: [{name: a, binding: Later}]', 'it is one of Immediate, WaitForFirstConsumer, not "Later"'],
  ['script:\n  - node-1 dies', 'x.yaml:2:5: script[0]: the time or the step is missing: "at 2m node-1 dies"'],
  ['script:\n  - at 2m node-1 dyes', 'x.yaml:2:5: script[0]: "dyes" is not expected there; did you mean "dies"?'],
  ['script:\n  - at noon node-1 dies', 'script[0]: "noon" is no time'],
  ['script:\n  - at 1m scale sattefulset/web to 3', 'script[0]: there is no kind "sattefulset"; did you mean "statefulset"?'],
  ['script:\n  - at 1m scale web to 3', 'script[0]: "web" names no object; one is "pod/web-0"'],
  ['script:\n  - at 1m resize pvc/data to big', '"big" is no amount; one is 10Gi'],
  ['script:\n  - at 1m the controlers crash', 'there is no process "controlers"; did you mean "controllers"?'],
  ['script:\n  - at 1m d.example.com fails to crate', 'a backend has no call "crate"; did you mean "create"?'],
  ['script:\n  - at 1m d.example.com fails to create with Unavailible', '"Unavailible" is no code of CSI; did you mean "Unavailable"?'],
  ['script:\n  - at 1m apply gone.yaml', 'script[0]: cannot read gone.yaml: no such file'],
  ['script: [{at: 1m, apply: {kind: Pod}}]', 'an object is expected here, with apiVersion, kind and metadata'],
  ['expect:\n  - pvc/data is Bound', 'x.yaml:2:5: expect[0]: the time is missing: begin with "at 8m"'],
  ['expect:\n  - at 1m pvc/data is Bond', 'expect[0]: there is no state "Bond"; did you mean "Bound"?'],
  ['for: 1m\nexpect:\n  - at 2m pvc/data is Bound', 'x.yaml:3:5: expect[0]: that is after the end, which is at 1m ("for")'],
  ['for: 90d', 'for: a simulation lasts at most 30d'],
  [
    'objects:\n  - {apiVersion: v1, kind: PersistentVolumeClam, metadata: {name: a}}',
    'objects[0].kind: there is no kind "PersistentVolumeClam"; did you mean "PersistentVolumeClaim"?',
  ],
  ['objects:\n  - {apiVersion: v1, kind: StatefulSet, metadata: {name: a}}', 'objects[0].apiVersion: StatefulSet is of apps/v1, not v1'],
  ['objects:\n  - {apiVersion: v1, kind: Pod, metadata: {}}', 'the Pod has no name'],
  ['objects:\n  - {apiVersion: v1, kind: Pod, metadata: }', 'the Pod has no name'],
  ['objects:\n  - {apiVersion: v1, kind: Pod, metadata: 7}', 'objects[0].metadata: fields are expected here'],
  ['script:\n  - at 4m:', 'script[0]: the time or the step is missing'],
  ['script:\n  - at 4m patch pvc/data: 5', 'a patch has fields'],
  ['a: 1\n---\nb: 2', 'a file has one document with sections'],
])('%j is refused', (text, message) => {
  expect(() => read(text)).toThrow(message);
});
