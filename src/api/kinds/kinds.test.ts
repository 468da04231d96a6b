import { beforeAll, describe, expect, test } from 'vitest';
import { apiVersionOf, type Kind } from '../kind.ts';
import { loadPatterns } from '../pattern.ts';
import { cloneObject } from '../schema/index.ts';
import { randomObject, seededRandom } from '../schema/random-object.ts';
import { createErrors, updateErrors } from '../validation/strategy.ts';
import { storageAndCoreKinds } from './core-and-storage-kinds.ts';
import { kindByName, kindFor } from './index.ts';
import { samples } from './samples.ts';
import { created, decoded, NOW, type Raw, refusal, row, updated, updateRefusal } from './try-kind.ts';

beforeAll(loadPatterns);

const each = storageAndCoreKinds.map((kind): [string, Kind] => [`${apiVersionOf(kind)} ${kind.kind}`, kind]);
const sampleOf = (kind: Kind): Raw => samples[kind.type] ?? {};

/** What `kubectl api-resources` and `kubectl get -o wide` show of each kind: short names, scope, columns. `*`: only with -o wide. */
const published: Readonly<Record<string, readonly [shortNames: string, namespaced: boolean, columns: string]>> = {
  'v1 namespaces': ['ns', false, 'Name Status Age'],
  'v1 nodes': ['no', false, 'Name Status Roles Age Version Internal-IP* External-IP* OS-Image* Kernel-Version* Container-Runtime*'],
  'v1 persistentvolumes': ['pv', false, 'Name Capacity Access_Modes Reclaim_Policy Status Claim StorageClass VolumeAttributesClass Reason Age VolumeMode*'],
  'v1 persistentvolumeclaims': ['pvc', true, 'Name Status Volume Capacity Access_Modes StorageClass VolumeAttributesClass Age VolumeMode*'],
  'v1 configmaps': ['cm', true, 'Name Data Age'],
  'v1 secrets': ['', true, 'Name Type Data Age'],
  'v1 serviceaccounts': ['sa', true, 'Name Age'],
  'v1 services': ['svc', true, 'Name Type Cluster-IP External-IP Port(s) Age Selector*'],
  'v1 endpoints': ['ep', true, 'Name Endpoints Age'],
  'v1 events': ['ev', true, 'Last_Seen Type Reason Object Subobject* Source* Message First_Seen* Count* Name*'],
  'v1 resourcequotas': ['quota', true, 'Name Request Limit Age'],
  'v1 limitranges': ['limits', true, 'Name Created_At:date'],
  'apiextensions.k8s.io/v1 customresourcedefinitions': ['crd crds', false, 'Name Created_At:date'],
  'storage.k8s.io/v1 storageclasses': ['sc', false, 'Name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age'],
  'storage.k8s.io/v1 volumeattachments': ['', false, 'Name Attacher PV Node Attached:boolean Age'],
  'storage.k8s.io/v1 csinodes': ['', false, 'Name Drivers:integer Age'],
  'storage.k8s.io/v1 csidrivers': [
    '',
    false,
    'Name AttachRequired:boolean PodInfoOnMount:boolean StorageCapacity:boolean TokenRequests RequiresRepublish:boolean Modes Age',
  ],
  'storage.k8s.io/v1 csistoragecapacities': ['', true, 'Name Created_At:date'],
  'storage.k8s.io/v1 volumeattributesclasses': ['vac', false, 'Name DriverName Age'],
  'coordination.k8s.io/v1 leases': ['', true, 'Name Holder Age'],
  'policy/v1 poddisruptionbudgets': ['pdb', true, 'Name Min_Available Max_Unavailable Allowed_Disruptions:integer Age'],
  'scheduling.k8s.io/v1 priorityclasses': ['pc', false, 'Name Value:integer Global-Default:boolean Age PreemptionPolicy'],
  'events.k8s.io/v1 events': ['ev', true, 'Last_Seen Type Reason Object Subobject* Source* Message First_Seen* Count* Name*'],
  'discovery.k8s.io/v1 endpointslices': ['', true, 'Name AddressType Ports Endpoints Age'],
  'certificates.k8s.io/v1 certificatesigningrequests': ['csr', false, 'Name Age SignerName Requestor RequestedDuration Condition'],
};

test('short names, scope and columns are those of Kubernetes', () => {
  const shown = storageAndCoreKinds.map((kind) => {
    const columns = kind.columns.map(
      ({ name, type, priority }) => `${name.replaceAll(' ', '_')}${type === 'string' ? '' : `:${type}`}${priority === 1 ? '*' : ''}`,
    );
    return [`${apiVersionOf(kind)} ${kind.plural}`, [kind.shortNames.join(' '), kind.namespaced, columns.join(' ')]];
  });
  expect(Object.fromEntries(shown)).toEqual(published);
});

test('a kind is found by its path and by its name', () => {
  expect(kindFor('storage.k8s.io', 'v1', 'storageclasses')?.kind).toBe('StorageClass');
  expect(kindFor('', 'v1', 'pods')?.kind).toBe('Pod');
  expect(kindFor('', 'v1', 'storageclasses')).toBeUndefined();
  expect(kindByName('events.k8s.io/v1', 'Event')?.type).toBe('EventsEvent');
  expect(kindByName('v1', 'Event')?.type).toBe('Event');
});

test('only names are formatted as names', () => {
  const formatted = storageAndCoreKinds.flatMap((kind) => kind.columns.filter(({ format }) => format === 'name').map(({ name }) => name));
  expect(new Set(formatted)).toEqual(new Set(['Name', 'Attacher']));
  expect(formatted.filter((name) => name === 'Name')).toHaveLength(storageAndCoreKinds.length);
});

describe.each(each)('%s', (_, kind) => {
  test('its least sample is accepted, and so is the same again', () => {
    expect(refusal(kind, sampleOf(kind))).toEqual([]);
    expect(updateRefusal(kind, created(kind, sampleOf(kind)), () => {})).toEqual([]);
  });

  test('defaults are complete after one round', () => {
    const once = created(kind, sampleOf(kind));
    const twice = cloneObject(once);
    kind.defaults?.(twice);
    expect(twice).toEqual(once);
  });

  test('every column and every selectable field has a value', () => {
    const object = created(kind, sampleOf(kind));
    for (const cell of Object.values(row(kind, object))) expect(cell).not.toBeUndefined();
    for (const select of Object.values(kind.selectableFields)) expect(typeof select(object)).toBe('string');
  });

  test('a label that is none is reported as often as Kubernetes looks at it', () => {
    const wrong = { ...sampleOf(kind), metadata: { ...(sampleOf(kind).metadata as object), labels: { 'no good': 'x' } } };
    expect(refusal(kind, wrong).filter((line) => line.startsWith('FieldValueInvalid metadata.labels'))).toHaveLength(1);
  });
});

/** The number of causes for one bad label on an update: what all kinds check, plus what the kind checks itself. */
const causesOnUpdate: Readonly<Record<string, number>> = {
  ...Object.fromEntries(storageAndCoreKinds.map(({ type }) => [type, 4])),
  CSINode: 3,
  CSIDriver: 3,
  Event: 2,
  EventsEvent: 3,
  CustomResourceDefinition: 3,
  EndpointSlice: 3,
  Lease: 3,
  LimitRange: 3,
  PodDisruptionBudget: 2,
  PriorityClass: 3,
  ResourceQuota: 3,
  Service: 3,
  VolumeAttachment: 3,
};

test.each(each)('an update of %s repeats the checks of metadata', (_, kind) => {
  const causes = updateRefusal(kind, created(kind, sampleOf(kind)), ({ metadata }) => {
    metadata.labels = { 'no good': 'x' };
  });
  expect(causes.filter((line) => line.startsWith('FieldValueInvalid metadata.labels'))).toHaveLength(causesOnUpdate[kind.type] ?? 0);
});

describe('whatever fits the schema is handled', () => {
  test.each(each)('%s', (_, kind) => {
    const random = seededRandom(1);
    for (let i = 0; i < 60; i++) {
      const object = decoded(kind, randomObject(kind.type, random));
      const again = cloneObject(object);
      kind.defaults?.(again);
      expect(again).toEqual(object);
      kind.prepareForCreate?.(object, NOW);
      createErrors(kind, object);
      const other = updated(kind, object, (copy) => Object.assign(copy, randomObject(kind.type, random)));
      updateErrors(kind, other, object);
      kind.warnings?.(object, undefined);
      kind.warnings?.(other, object);
      row(kind, object);
    }
  });

  test.each(each)('%s with the names of an object’s own methods as keys', (_, kind) => {
    const hostile = JSON.parse('{"constructor":"1000","toString":"2000","__proto__":"3000"}') as Raw;
    const raw = {
      ...sampleOf(kind),
      spec: {
        ...(sampleOf(kind).spec as object | undefined),
        hard: hostile,
        capacity: hostile,
        parameters: hostile,
        limits: [{ type: 'Container', max: hostile, min: {} }],
      },
      data: hostile,
      parameters: hostile,
      status: { capacity: hostile, hard: hostile, used: {} },
    };
    const object = decoded(kind, raw);
    createErrors(kind, object);
    updateErrors(kind, decoded(kind, sampleOf(kind)), object);
    row(kind, object);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
});
