import { describe, expect, test } from 'vitest';
import type { Pod } from '../../generated/types.ts';
import { created, statusRefusal, statusUpdated } from '../try-kind.ts';
import { podKind } from './pod.ts';

const pod = (spec: object = {}, metadata: object = {}): Pod =>
  created(podKind, { metadata: { name: 'web', ...metadata }, spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec } });
const withStatus = (old: Pod, status: object): Pod => ({ ...old, status: { ...old.status, ...status } });

describe('a new pod', () => {
  test('that has gates says that it waits for them', () => {
    expect(pod({ schedulingGates: [{ name: 'quota' }] }).status).toEqual({
      phase: 'Pending',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          lastProbeTime: null,
          lastTransitionTime: '2026-03-01T12:00:00Z',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        },
      ],
      qosClass: 'BestEffort',
    });
  });

  test('is told apart by its own labels', () => {
    const term = { topologyKey: 'zone', labelSelector: {}, matchLabelKeys: ['hash', 'absent'], mismatchLabelKeys: ['tenant'] };
    const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {}, matchLabelKeys: ['hash'] };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const { spec } = pod({ affinity, topologySpreadConstraints: [spread] }, { labels: { hash: 'h1', tenant: 't1' } });
    const hash = { key: 'hash', operator: 'In', values: ['h1'] };
    expect(spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0]?.labelSelector).toEqual({
      matchExpressions: [hash, { key: 'tenant', operator: 'NotIn', values: ['t1'] }],
    });
    expect(spec.topologySpreadConstraints?.[0]?.labelSelector).toEqual({ matchExpressions: [hash] });
  });

  test('with an AppArmor annotation of old gets the field', () => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/main': 'localhost/mine' };
    expect(pod({}, { annotations }).spec.containers?.[0]?.securityContext).toEqual({ appArmorProfile: { type: 'Localhost', localhostProfile: 'mine' } });
  });

  test('loses what belongs to features that are off', () => {
    const { spec } = pod({
      schedulingGroup: { podGroupName: 'g' },
      containers: [{ name: 'main', image: 'nginx', lifecycle: { stopSignal: 'SIGUSR1' } }],
      volumes: [{ name: 'a', projected: { sources: [{ clusterTrustBundle: { path: 'ca' } }] } }],
    });
    expect(spec.schedulingGroup).toBeUndefined();
    expect(spec.containers?.[0]?.lifecycle).toBeUndefined();
    expect(spec.volumes?.[0]?.projected?.sources).toEqual([{}]);
  });
});

describe('how long a deleted pod may take', () => {
  const grace = (old: Pod, requested?: number): number | undefined => podKind.gracePeriod?.(old, requested);
  const scheduled = (more: object = {}): Pod => pod({ nodeName: 'n1', ...more });

  test('as long as it says, or as the client says', () => {
    expect(grace(scheduled())).toBe(30);
    expect(grace(scheduled({ terminationGracePeriodSeconds: 5 }))).toBe(5);
    expect(grace(scheduled(), 0)).toBe(0);
    expect(grace(scheduled(), 7)).toBe(7);
    expect(grace(scheduled(), -1)).toBe(1);
  });

  test('no time at all if nothing of it runs', () => {
    expect(grace(pod())).toBe(0);
    expect(grace(pod(), 60)).toBe(0);
    expect(grace(withStatus(scheduled(), { phase: 'Succeeded' }))).toBe(0);
    expect(grace(withStatus(scheduled(), { phase: 'Failed' }), 60)).toBe(0);
  });
});

describe('a status', () => {
  const ended = { name: 'main', state: { terminated: { exitCode: 1 } }, lastState: {}, ready: false, restartCount: 0, image: '', imageID: '' };
  const runs = { ...ended, state: { running: {} } };
  const report = (old: Pod, status: object): string[] => statusRefusal(podKind, old, (copy) => Object.assign(copy.status, status));

  test('that forgets the QoS class keeps it, and no other is accepted', () => {
    expect(statusUpdated(podKind, pod(), (copy) => Object.assign(copy, { status: { phase: 'Running' } })).status.qosClass).toBe('BestEffort');
    expect(report(pod(), { qosClass: 'Guaranteed' })).toEqual(['FieldValueInvalid status.qosClass: Invalid value: "Guaranteed": field is immutable']);
  });

  test('does not touch owners', () => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' };
    const old = pod({}, { ownerReferences: [owner] });
    expect(statusUpdated(podKind, old, ({ metadata }) => delete metadata.ownerReferences).metadata.ownerReferences).toEqual([owner]);
  });

  test('keeps the generations it forgets', () => {
    const condition = { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null };
    const old = withStatus(pod(), { observedGeneration: 3, conditions: [{ ...condition, observedGeneration: 3 }] });
    const { status } = statusUpdated(podKind, old, (copy) => Object.assign(copy, { status: { conditions: [{ ...condition, status: 'False' }] } }));
    expect(status).toMatchObject({ observedGeneration: 3, conditions: [{ status: 'False', observedGeneration: 3 }] });
  });

  test.each([
    ['Always', []],
    ['OnFailure', []],
    ['Never', ['FieldValueForbidden status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state']],
  ])('with restart policy %s', (restartPolicy, expected) => {
    const old = withStatus(pod({ restartPolicy }), { containerStatuses: [ended] });
    expect(report(old, { containerStatuses: [runs] })).toEqual(expected);
  });

  test('a container may have its own policy', () => {
    const containers = [
      { name: 'main', image: 'x', restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] },
    ];
    expect(report(withStatus(pod({ containers }), { containerStatuses: [ended] }), { containerStatuses: [runs] })).toEqual([]);
  });

  test('conditions and nominations have proper names', () => {
    expect(report(pod(), { conditions: [{ type: 'a b', status: 'True' }], nominatedNodeName: 'N' }).map((line) => line.split(':')[0])).toEqual([
      'FieldValueInvalid status.conditions[0].Type',
      'FieldValueInvalid status.nominatedNodeName',
    ]);
    expect(report(pod({ nodeName: 'n1' }), { nominatedNodeName: 'n2' })).toEqual([
      'FieldValueForbidden status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node',
    ]);
  });

  test('one address of each family', () => {
    expect(report(pod(), { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: '::1' }] })).toEqual([]);
    expect(report(pod(), { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] })).toEqual([
      'FieldValueInvalid status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
    ]);
    expect(report(pod(), { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] })).toEqual([
      'FieldValueInvalid status.hostIPs[0].ip: Invalid value: "10.0.0.2": must be equal to `hostIP`',
    ]);
  });
});
