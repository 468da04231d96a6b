import { describe, expect, test } from 'vitest';
import type { StatefulSet, StatefulSetSpec } from '../../generated/types.ts';
import { created, refusal, row, statusRefusal, updateRefusal } from '../try-kind.ts';
import { podSpec } from '../workload-samples.ts';
import { statefulSetKind } from './stateful-set.ts';

const template = { metadata: { labels: { app: 'db' } }, spec: podSpec };
const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
const raw = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'db', ...metadata },
  spec: { selector: { matchLabels: { app: 'db' } }, template, serviceName: 'db', ...spec },
});
const set = (spec: object = {}): StatefulSet => created(statefulSetKind, raw(spec));
const said = (spec: object): string[] => refusal(statefulSetKind, raw(spec));
const change = (old: StatefulSet, edit: (spec: StatefulSetSpec) => unknown): string[] => updateRefusal(statefulSetKind, old, ({ spec }) => void edit(spec));

describe('defaults', () => {
  test('of the set', () => {
    const { template: _, selector: __, ...spec } = set().spec;
    expect(spec).toEqual({
      serviceName: 'db',
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    });
    expect(set().status).toEqual({ replicas: 0, availableReplicas: 0 });
  });

  test('of the claims it makes', () => {
    expect(set({ volumeClaimTemplates: [claim] }).spec.volumeClaimTemplates).toEqual([
      {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeMode: 'Filesystem' },
        status: { phase: 'Pending' },
      },
    ]);
  });

  test('a strategy that is named gets only what belongs to it', () => {
    expect(set({ updateStrategy: { type: 'OnDelete' } }).spec.updateStrategy).toEqual({ type: 'OnDelete' });
    expect(set({ updateStrategy: { type: 'RollingUpdate' } }).spec.updateStrategy).toEqual({ type: 'RollingUpdate' });
    expect(set({ updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } }).spec.updateStrategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { partition: 0 },
    });
  });

  test('templates of pods keep a negative grace period', () => {
    const pod = { ...template, spec: { ...podSpec, terminationGracePeriodSeconds: -1 } };
    expect(set({ template: pod }).spec.template.spec.terminationGracePeriodSeconds).toBe(-1);
  });
});

describe('what is refused', () => {
  test('names that pods could not have', () => {
    expect(refusal(statefulSetKind, raw({}, { name: 'a.b' }))).toEqual(['FieldValueInvalid metadata.name: Invalid value: "a.b": must not contain dots']);
  });

  test('policies and counts', () => {
    expect(said({ podManagementPolicy: 'Random', replicas: -1, minReadySeconds: -1, ordinals: { start: -1 }, serviceName: 'a.b' })).toEqual([
      "FieldValueInvalid spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'",
      'FieldValueInvalid spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid spec.serviceName: Invalid value: "a.b": must not contain dots',
    ]);
    expect(said({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Keep' } })).toEqual([
      'FieldValueNotSupported spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"',
    ]);
  });

  test('strategies', () => {
    expect(said({ updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } })).toEqual([
      'FieldValueInvalid spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
    ]);
    expect(said({ updateStrategy: { type: 'Never' } })).toEqual([
      'FieldValueInvalid spec.updateStrategy: Invalid value: {"Type":"Never","RollingUpdate":null}: must be \'RollingUpdate\' or \'OnDelete\'',
    ]);
    expect(said({ updateStrategy: { rollingUpdate: { partition: -1 } } })).toEqual([
      'FieldValueInvalid spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });

  test('selectors that are none, or miss the pods', () => {
    expect(said({ selector: undefined })).toEqual([
      'FieldValueRequired spec.selector: Required value',
      'FieldValueInvalid spec.template.metadata.labels: Invalid value: {"app":"db"}: `selector` does not match template `labels`',
    ]);
    expect(said({ selector: {} })).toEqual(['FieldValueInvalid spec.selector: Invalid value: {}: empty selector is invalid for statefulset']);
    expect(said({ selector: { matchLabels: { app: 'web' } } })).toEqual([
      'FieldValueInvalid spec.template.metadata.labels: Invalid value: {"app":"db"}: `selector` does not match template `labels`',
    ]);
    expect(said({ selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } })).toEqual([
      "FieldValueRequired spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'FieldValueInvalid spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"In"}]}',
    ]);
  });

  test('pods that end', () => {
    const pod = (more: object): object => ({ template: { ...template, spec: { ...podSpec, ...more } } });
    expect(said(pod({ restartPolicy: 'Never' }))).toEqual([
      'FieldValueNotSupported spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ]);
    expect(said(pod({ activeDeadlineSeconds: 5 }))).toEqual([
      'FieldValueForbidden spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
    ]);
  });

  test('claims that could not be made', () => {
    expect(said({ volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }] })).toEqual([
      'FieldValueRequired spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
      'FieldValueRequired spec.volumeClaimTemplates[0].spec.resources[storage]: Required value',
    ]);
  });
});

describe('pods are checked as they will be made', () => {
  const mounting = (name: string): object => ({
    ...template,
    spec: { containers: [{ name: 'main', image: 'x', volumeMounts: [{ name, mountPath: '/data' }] }] },
  });

  test('their claims can be mounted', () => {
    expect(said({ volumeClaimTemplates: [claim], template: mounting('data') })).toEqual([]);
    expect(said({ volumeClaimTemplates: [claim], template: mounting('other') })).toEqual([
      'FieldValueNotFound spec.template.spec.containers[0].volumeMounts[0].name: Not found: "other"',
    ]);
  });

  test('a claim replaces a volume of the same name', () => {
    const pod = { ...template, spec: { ...podSpec, volumes: [{ name: 'data', hostPath: { path: '' } }] } };
    expect(said({ volumeClaimTemplates: [claim], template: pod })).toEqual([]);
  });

  test('hostname and subdomain are the controller’s', () => {
    expect(said({ template: { ...template, spec: { ...podSpec, hostname: 'NO', subdomain: 'NO' } } })).toEqual([]);
  });
});

describe('changes', () => {
  const FORBIDDEN =
    "FieldValueForbidden spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

  test('are possible in some fields', () => {
    const edit = {
      replicas: 3,
      ordinals: { start: 1 },
      revisionHistoryLimit: 1,
      minReadySeconds: 5,
      updateStrategy: { type: 'OnDelete' },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
      template: { ...template, spec: { containers: [{ name: 'main', image: 'nginx:2' }] } },
    };
    expect(change(set(), (spec) => Object.assign(spec, edit))).toEqual([]);
  });

  test('and in no others', () => {
    expect(change(set(), (spec) => Object.assign(spec, { serviceName: 'other' }))).toEqual([FORBIDDEN]);
    expect(change(set(), (spec) => Object.assign(spec, { podManagementPolicy: 'Parallel' }))).toEqual([FORBIDDEN]);
    const grow = (spec: StatefulSetSpec) => Object.assign(spec.volumeClaimTemplates?.[0]?.spec.resources ?? {}, { requests: { storage: '2Gi' } });
    expect(change(set({ volumeClaimTemplates: [claim] }), grow)).toEqual([FORBIDDEN]);
  });

  describe('of claim templates, in a set that lets its claims grow', () => {
    const growing = {
      ...set({ volumeClaimTemplates: [claim, { ...claim, metadata: { name: 'logs' } }] }),
      metadata: { name: 'web', namespace: 'default', annotations: { 'mooring.dev/grow-claims': 'true' } },
    };
    const ask = (storage: string) => (spec: StatefulSetSpec) => Object.assign(spec.volumeClaimTemplates?.[1]?.spec.resources ?? {}, { requests: { storage } });

    test('are possible to more storage', () => {
      expect(change(growing, ask('2Gi'))).toEqual([]);
      expect(change(growing, (spec) => Object.assign(spec, { replicas: 5 }))).toEqual([]);
    });

    test('but not to less', () => {
      expect(change(growing, ask('1Mi'))).toEqual([
        'FieldValueForbidden spec.volumeClaimTemplates[1].spec.resources.requests.storage: Forbidden: may grow, but not shrink',
      ]);
    });

    test('nor of anything else', () => {
      expect(change(growing, (spec) => spec.volumeClaimTemplates?.pop())).toEqual([FORBIDDEN]);
      expect(change(growing, (spec) => Object.assign(spec.volumeClaimTemplates?.[0]?.spec ?? {}, { storageClassName: 'other' }))).toEqual([FORBIDDEN]);
      expect(change(growing, (spec) => Object.assign(spec.volumeClaimTemplates?.[0]?.spec.resources ?? {}, { limits: { storage: '9Gi' } }))).toEqual([
        FORBIDDEN,
      ]);
      expect(change(growing, (spec) => Object.assign(spec, { serviceName: 'other' }))).toEqual([FORBIDDEN]);
    });

    test('and only if it says so with true', () => {
      const other = { ...growing, metadata: { name: 'web', namespace: 'default', annotations: { 'mooring.dev/grow-claims': 'yes' } } };
      expect(change(other, ask('2Gi'))).toEqual([FORBIDDEN]);
    });
  });

  test('the size of a claim may be written otherwise', () => {
    const write = (spec: StatefulSetSpec) => Object.assign(spec.volumeClaimTemplates?.[0]?.spec.resources ?? {}, { requests: { storage: '1073741824' } });
    expect(change(set({ volumeClaimTemplates: [claim] }), write)).toEqual([]);
  });

  test('what cannot change is not checked again', () => {
    const edit = { serviceName: 'a.b', volumeClaimTemplates: [{ ...claim, spec: {} }] };
    expect(change(set(), (spec) => Object.assign(spec, edit))).toEqual([FORBIDDEN]);
  });
});

test('a status counts right', () => {
  const report = (status: object, old: object = {}): string[] =>
    statusRefusal(statefulSetKind, { ...set(), status: { replicas: 1, availableReplicas: 0, ...old } }, (copy) => Object.assign(copy.status, status));
  expect(report({ replicas: 2, readyReplicas: 2, availableReplicas: 1 })).toEqual([]);
  expect(report({ replicas: 1, readyReplicas: 2, currentReplicas: -1, availableReplicas: 3 })).toEqual([
    'FieldValueInvalid status.currentReplicas: Invalid value: -1: must be greater than or equal to 0',
    'FieldValueInvalid status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    'FieldValueInvalid status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas',
    'FieldValueInvalid status.availableReplicas: Invalid value: 3: cannot be greater than status.readyReplicas',
  ]);
  expect(report({ collisionCount: 1 }, { collisionCount: 2 })).toEqual(['FieldValueInvalid status.collisionCount: Invalid value: 1: cannot be decremented']);
});

test('its row, and its scale', () => {
  const object: StatefulSet = { ...set({ replicas: 3 }), status: { replicas: 2, readyReplicas: 1, availableReplicas: 0 } };
  expect(row(statefulSetKind, object)).toEqual({ Name: 'db', Ready: '1/3', Age: '60m', Containers: 'main', Images: 'nginx' });
  const { scale } = statefulSetKind;
  expect([scale?.replicas(object), scale?.statusReplicas(object), scale?.selector(object)]).toEqual([3, 2, 'app=db']);
  scale?.setReplicas(object, 5);
  expect(object.spec.replicas).toBe(5);
});

test('what is accepted with a warning', () => {
  const volumeClaimTemplates = [{ ...claim, spec: { ...claim.spec, resources: { requests: { storage: '1500m' } } } }];
  expect(statefulSetKind.warnings?.(set({ volumeClaimTemplates, revisionHistoryLimit: -1 }), undefined)).toEqual([
    'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
  ]);
});
