import { describe, expect, test } from 'vitest';
import type { Pod, PodSpec } from '../../generated/types.ts';
import { created, updateRefusal } from '../try-kind.ts';
import { podKind } from './pod.ts';

const pod = (spec: object = {}, metadata: object = {}): Pod =>
  created(podKind, { metadata: { name: 'web', ...metadata }, spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec } });
const change = (old: Pod, edit: (spec: PodSpec) => void): string[] => updateRefusal(podKind, old, ({ spec }) => edit(spec));
const MUTABLE =
  'FieldValueForbidden spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n';

describe('what may change', () => {
  test('images, but not to none', () => {
    const set = (image: string) => (spec: PodSpec) => Object.assign(spec.containers?.[0] ?? {}, { image });
    expect(change(pod(), set('nginx:2'))).toEqual([]);
    expect(change(pod(), set(' '))).toEqual(
      Array(2).fill('FieldValueInvalid spec.containers[0].image: Invalid value: " ": must not have leading or trailing whitespace'),
    );
  });

  test('a deadline, to an earlier one', () => {
    const set = (seconds: number | undefined) => (spec: PodSpec) => Object.assign(spec, { activeDeadlineSeconds: seconds });
    const field = 'FieldValueInvalid spec.activeDeadlineSeconds: Invalid value:';
    expect(change(pod(), set(10))).toEqual([]);
    expect(change(pod({ activeDeadlineSeconds: 10 }), set(5))).toEqual([]);
    expect(change(pod({ activeDeadlineSeconds: 10 }), set(11))).toEqual([`${field} 11: must be less than or equal to previous value`]);
    expect(change(pod({ activeDeadlineSeconds: 10 }), set(undefined))).toEqual([`${field} null: must not update from a positive integer to nil value`]);
  });

  test('tolerations, by more of them and other seconds', () => {
    const first = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 };
    const old = pod({ tolerations: [first] });
    expect(change(old, (spec) => Object.assign(spec, { tolerations: [{ ...first, tolerationSeconds: 9 }, { operator: 'Exists' }] }))).toEqual([]);
    const refused = ['FieldValueForbidden spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'];
    expect(change(old, (spec) => Object.assign(spec, { tolerations: [{ ...first, key: 'b' }] }))).toEqual(refused);
    expect(change(old, (spec) => delete spec.tolerations)).toEqual(refused);
  });

  test('the same amount may be written otherwise', () => {
    const containers = [{ name: 'main', image: 'nginx', resources: { requests: { memory: '1Gi' } } }];
    const write = (spec: PodSpec) => Object.assign(spec.containers?.[0]?.resources ?? {}, { requests: { memory: '1073741824' } });
    expect(change(pod({ containers }), write)).toEqual([]);
  });
});

describe('what may not', () => {
  test('the number of containers', () => {
    expect(change(pod(), (spec) => spec.containers?.push({ name: 'more', image: 'x', resources: {} }))).toEqual([
      'FieldValueForbidden spec.containers: Forbidden: pod updates may not add or remove containers',
    ]);
  });

  test('anything else, and the message shows what it was', () => {
    expect(change(pod({ nodeSelector: { a: 'b' } }), (spec) => Object.assign(spec, { schedulerName: 'mine' }))).toEqual([
      `${MUTABLE}@@ -70,7 +70,7 @@
  "Subdomain": "",
  "SetHostnameAsFQDN": null,
  "Affinity": null,
- "SchedulerName": "default-scheduler",
+ "SchedulerName": "mine",
  "Tolerations": null,
  "HostAliases": null,
  "PriorityClassName": "",
`,
    ]);
  });

  test('volumes', () => {
    const old = pod({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'a' } }] });
    const [message = ''] = change(old, (spec) => Object.assign(spec.volumes?.[0]?.persistentVolumeClaim ?? {}, { claimName: 'b' }));
    expect(message.split('\n').filter((line) => /^[-+] /.test(line))).toEqual(['-    "ClaimName": "a",', '+    "ClaimName": "b",']);
  });

  test('some annotations', () => {
    const annotate =
      (annotations: Record<string, string>) =>
      ({ metadata }: Pod) =>
        void Object.assign(metadata, { annotations });
    const mirror = 'kubernetes.io/config.mirror';
    expect(updateRefusal(podKind, pod({ nodeName: 'n1' }), annotate({ [mirror]: 'x', mine: 'y' }))).toEqual([
      `FieldValueForbidden metadata.annotations[${mirror}]: Forbidden: may not add mirror pod annotation`,
    ]);
    expect(updateRefusal(podKind, pod({ nodeName: 'n1' }, { annotations: { [mirror]: 'x' } }), annotate({}))).toEqual([
      `FieldValueForbidden metadata.annotations[${mirror}]: Forbidden: may not remove or update mirror pod annotation`,
    ]);
  });
});

describe('while gates hold off the scheduler', () => {
  const schedulingGates = [{ name: 'quota' }];
  const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
  const affinity = (...nodeSelectorTerms: object[]): object => ({ nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } });
  const term = (...values: string[]): object => ({ matchExpressions: values.map((value) => ({ key: 'zone', operator: 'In', values: [value] })) });

  test('gates can go, but none can come', () => {
    expect(change(pod({ schedulingGates }), (spec) => delete spec.schedulingGates)).toEqual([]);
    expect(change(pod({ schedulingGates }), (spec) => spec.schedulingGates?.push({ name: 'other' }))).toEqual([
      "FieldValueForbidden spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'other'",
    ]);
  });

  test('nodes can be narrowed by labels', () => {
    const old = pod({ schedulingGates, nodeSelector: { a: '1' } });
    expect(change(old, (spec) => Object.assign(spec.nodeSelector ?? {}, { b: '2' }))).toEqual([]);
    expect(change(old, (spec) => Object.assign(spec, { nodeSelector: { b: '2' } }))).toEqual([
      'FieldValueInvalid spec.nodeSelector: Invalid value: {"b":"2"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ]);
    expect(change(pod({ nodeSelector: { a: '1' } }), (spec) => Object.assign(spec.nodeSelector ?? {}, { b: '2' }))[0]).toMatch(/^FieldValueForbidden spec: /);
  });

  test('and by affinity', () => {
    const at = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
    const none = pod({ schedulingGates });
    const one = pod({ schedulingGates, affinity: affinity(term('a')) });
    expect(change(none, (spec) => Object.assign(spec, { affinity: affinity(term('a')) }))).toEqual([]);
    expect(change(one, (spec) => Object.assign(spec, { affinity: affinity(term('a', 'b')) }))).toEqual([]);
    const expected = '{"MatchExpressions":[{"Key":"zone","Operator":"In","Values":["b"]}],"MatchFields":null}';
    expect(change(one, (spec) => Object.assign(spec, { affinity: affinity(term('b')) }))).toEqual([
      `FieldValueInvalid ${at}[0]: Invalid value: ${expected}: only additions are allowed (no mutations or deletions)`,
    ]);
    expect(change(one, (spec) => delete spec.affinity)).toEqual([
      `FieldValueInvalid ${at}: Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed`,
    ]);
  });
});
