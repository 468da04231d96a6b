import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ObjectReference, PersistentVolume, Pod, VolumeAttachment } from '../../api/generated/types.ts';
import type { KubeObject } from '../../api/object.ts';
import type { LastEvent } from '../../client/decision.ts';
import type { AttachDetachAction } from './actions.ts';
import { decide } from './decide.ts';
import type { AttachmentState, NodeState, CompetingAttachment, AttachDetachSnapshot } from './snapshot.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const minutes = 60_000;

const pod = (name: string, namespace = 'default'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, uid: `uid-of-${name}` },
  spec: { containers: [] },
  status: {},
});
const volume: PersistentVolume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'vol' }, spec: {}, status: {} };
const object: VolumeAttachment = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name: 'csi-1', uid: 'uid-of-csi-1' },
  spec: { attacher: 'driver', nodeName: 'n1', source: { persistentVolumeName: 'vol' } },
  status: { attached: false },
};

const none: AttachmentState = { state: 'none' };
const attached: AttachmentState = { state: 'attached', object };
const attaching = (since = now): AttachmentState => ({ state: 'attaching', object, since });
const failed: AttachmentState = { state: 'failed', object, message: 'disk is on fire', at: '2026-01-01T11:59:00Z' };
const detaching = (wasAttached = true, problem?: string): AttachmentState => ({ state: 'detaching', object, wasAttached, problem });

const node = (more: Partial<NodeState & { state: 'known' }> = {}): NodeState => ({
  state: 'known',
  managed: true,
  ready: true,
  outOfService: false,
  listed: false,
  inUse: false,
  heardSince: true,
  ...more,
});
const gone = (wasInUse = false): NodeState => ({ state: 'gone', wasInUse });

function snapshotOf(more: Partial<AttachDetachSnapshot> = {}): AttachDetachSnapshot {
  const desiredBy = more.desiredBy ?? [];
  return {
    target: { id: 'csi-1', driver: 'driver', handle: 'handle', node: 'n1', uniqueName: 'kubernetes.io/csi/driver^handle' },
    attachRequired: true,
    desiredBy,
    users: desiredBy.map((desired) => `${desired.pod.metadata.namespace}/${desired.pod.metadata.name}`),
    node: node(),
    attachment: none,
    competitors: [],
    unwantedSince: desiredBy.length === 0 ? now : undefined,
    lastEvent: () => undefined,
    ...more,
  };
}
const needed = (more: Partial<AttachDetachSnapshot> = {}): AttachDetachSnapshot => snapshotOf({ desiredBy: [{ pod: pod('web'), volume }], ...more });

/** 'create-attachment', 'event web FailedAttachVolume: …' */
const shown = (actions: readonly AttachDetachAction[]): string[] =>
  actions.map((action) => (action.do === 'recordEvent' ? `event ${nameOf(action.event.about)} ${action.event.reason}: ${action.event.message}` : action.do));
const actions = (snapshot: AttachDetachSnapshot, at = now): string[] => shown(decide(snapshot, at).actions);
const code = (snapshot: AttachDetachSnapshot): string | undefined => decide(snapshot, now).reasons[0]?.code;

describe('a volume that a pod needs', () => {
  test('gets a VolumeAttachment with the target’s name and the volume’s source', () => {
    expect(decide(needed(), now).actions).toEqual([
      {
        do: 'create-attachment',
        object: {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'VolumeAttachment',
          metadata: { name: 'csi-1' },
          spec: { attacher: 'driver', nodeName: 'n1', source: { persistentVolumeName: 'vol' } },
          status: { attached: false },
        },
      },
    ]);
  });

  test('is listed once it is attached, and every pod gets an event', () => {
    const desiredBy = [pod('one'), pod('two')].map((each) => ({ pod: each, volume }));
    expect(actions(snapshotOf({ desiredBy, attachment: attached }))).toEqual([
      'confirm-attached',
      'report-attached',
      'event one SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "vol" ',
      'event two SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "vol" ',
    ]);
    expect(actions(snapshotOf({ desiredBy, attachment: attached, node: node({ listed: true }) }))).toEqual([]);
  });

  test('is listed again without an event if the node status lost it', () => {
    const lastEvent = () => ({ reason: '', message: '', state: 'attached', at: now - 60 * minutes });
    expect(actions(needed({ attachment: attached, lastEvent }))).toEqual(['confirm-attached', 'report-attached']);
  });

  test('records a failure, again with each attempt, and again at growing intervals', () => {
    const first = decide(needed({ attachment: failed }), now);
    expect(shown(first.actions)).toEqual(['event web FailedAttachVolume: AttachVolume.Attach failed for volume "vol" : disk is on fire']);
    const snapshot = needed({ attachment: failed, lastEvent: afterRecording(first.actions) });
    expect(decide(snapshot, now)).toMatchObject({ actions: [], again: now + minutes / 4 });
    expect(actions(snapshot, now + minutes / 4)).toHaveLength(1);
    expect([4, 60].map((age) => decide(snapshot, now + age * minutes).again)).toEqual([now + 8 * minutes, now + 65 * minutes]);
    expect(actions({ ...snapshot, attachment: { ...failed, at: '2026-01-01T12:00:00Z' } })).toHaveLength(1);
  });

  test('counts as failed after two minutes without an answer', () => {
    expect(decide(needed({ attachment: attaching() }), now)).toMatchObject({ actions: [], again: now + 2 * minutes });
    expect(actions(needed({ attachment: attaching() }), now + 2 * minutes)).toEqual([
      'event web FailedAttachVolume: AttachVolume.Attach failed for volume "vol" : timed out waiting for external-attacher of driver CSI driver to attach volume handle',
    ]);
  });

  test('waits for an old attachment to go, and says so only if that was never attached', () => {
    expect(actions(needed({ attachment: detaching() }))).toEqual([]);
    expect(actions(needed({ attachment: detaching(false) }))).toEqual([
      'event web FailedAttachVolume: AttachVolume.Attach failed for volume "vol" : volume attachment is being deleted',
    ]);
  });

  test.each([
    ['its attachment is gone', none, ['report-detached', 'create-attachment']],
    ['its attachment is not attached', attaching(), ['report-detached']],
  ])('is taken off the node’s list if %s', (_, attachment, expected) =>
    expect(actions(needed({ attachment, node: node({ listed: true, inUse: true }) }))).toEqual(expected),
  );

  test('is not attached to a node that attaches by itself, nor to one that is gone, nor for a claim that is not bound', () => {
    expect(code(needed({ node: node({ managed: false }) }))).toBe('NodeNotManaged');
    expect(code(needed({ node: gone() }))).toBe('NodeGone');
    expect(code(snapshotOf({ users: ['default/web'] }))).toBe('ClaimNotBound');
    for (const snapshot of [needed({ node: node({ managed: false }) }), needed({ node: gone() }), snapshotOf({ users: ['default/web'] })])
      expect(actions(snapshot)).toEqual([]);
  });

  test('stays attached to a node that is gone as long as its pod exists', () => {
    expect(actions(needed({ node: gone(), attachment: attached }))).toEqual([]);
  });
});

describe('a volume for one node only', () => {
  const competitor = (attachment: AttachmentState, more: Partial<CompetingAttachment> = {}): CompetingAttachment => ({
    node: 'n2',
    attachment,
    pods: [],
    inUse: false,
    ...more,
  });
  const recorded = (competitors: readonly CompetingAttachment[]): string[] => actions(needed({ competitors }));
  const pods = [
    { namespace: 'default', name: 'one' },
    { namespace: 'default', name: 'two' },
    { namespace: 'team', name: 'secret' },
  ];

  test.each([
    ['by pods nearby', pods.slice(0, 2), 'Volume is already used by pod(s) one, two'],
    ['by pods nearby and elsewhere', pods, 'Volume is already used by pod(s) one, two and 1 pod(s) in different namespaces'],
    ['by pods elsewhere', pods.slice(2), 'Volume is already used by 1 pod(s) in different namespaces'],
  ])('waits while it is used %s, and says so while that lasts', (_, users, expected) => {
    const snapshot = needed({ competitors: [competitor(attached, { pods: users })] });
    expect(actions(snapshot)).toEqual([`event web FailedAttachVolume: Waiting for detach for volume "vol" ${expected}`]);
    const later = { ...snapshot, lastEvent: afterRecording(decide(snapshot, now).actions) };
    expect([1, minutes / 4].map((age) => actions(later, now + age).length)).toEqual([0, 1]);
  });

  test('waits while another node still has it mounted', () => {
    expect(recorded([competitor(attached, { inUse: true })])).toEqual([
      'event web FailedAttachVolume: Waiting for detach for volume "vol" Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node',
    ]);
  });

  test('waits without an event while it is being detached from the other node, or attached there', () => {
    expect(recorded([competitor(attached)])).toEqual([]);
    expect(recorded([competitor(detaching())])).toEqual([]);
    expect(recorded([competitor(attaching())])).toEqual([]);
    expect(decide(needed({ competitors: [competitor(attaching())] }), now).again).toBe(now + 2 * minutes);
  });

  test('does not wait for what failed elsewhere', () => {
    expect(recorded([competitor(failed)])).toEqual(['create-attachment']);
    expect(recorded([competitor(attaching(now - 2 * minutes))])).toEqual(['create-attachment']);
  });
});

describe('a volume that no pod needs', () => {
  const listed = node({ listed: true });

  test('leaves the node’s list before its attachment is deleted', () => {
    expect(decide(snapshotOf({ attachment: attached, node: listed }), now).actions).toEqual([
      { do: 'report-detached', evenIfInUse: false },
      { do: 'delete-attachment', object },
    ]);
  });

  test('is confirmed unused by the server if the list does not have it', () => {
    expect(actions(snapshotOf({ attachment: attached }))).toEqual(['confirm-unused', 'delete-attachment']);
  });

  test('stays while a node that is alive has it mounted', () => {
    const snapshot = snapshotOf({ attachment: attached, node: node({ listed: true, inUse: true }), unwantedSince: now - 60 * minutes });
    expect(actions(snapshot)).toEqual([]);
    expect(code(snapshot)).toBe('InUse');
    expect(decide(snapshot, now).again).toBeUndefined();
  });

  test('is detached after six minutes from a node that has it mounted and is not ready', () => {
    const snapshot = snapshotOf({ attachment: attached, node: node({ listed: true, inUse: true, ready: false }) });
    expect(decide(snapshot, now)).toMatchObject({ actions: [], again: now + 6 * minutes });
    expect(decide(snapshot, now + 6 * minutes).actions).toEqual([
      { do: 'report-detached', evenIfInUse: true },
      { do: 'delete-attachment', object },
    ]);
  });

  test('is detached at once from a node that is out of service', () => {
    expect(decide(snapshotOf({ attachment: attached, node: node({ listed: true, inUse: true, outOfService: true }) }), now).actions).toEqual([
      { do: 'report-detached', evenIfInUse: true },
      { do: 'delete-attachment', object },
    ]);
  });

  test('is detached from a node that is gone; after six minutes, if that said it was mounted', () => {
    expect(actions(snapshotOf({ attachment: attached, node: gone() }))).toEqual(['delete-attachment']);
    expect(actions(snapshotOf({ attachment: attached, node: gone(true) }))).toEqual([]);
    expect(actions(snapshotOf({ attachment: attached, node: gone(true) }), now + 6 * minutes)).toEqual(['delete-attachment']);
  });

  test('is not detached while it is being attached', () => {
    expect(decide(snapshotOf({ attachment: attaching() }), now)).toMatchObject({ actions: [], again: now + 2 * minutes });
    expect(actions(snapshotOf({ attachment: attaching() }), now + 2 * minutes)).toEqual(['confirm-unused', 'delete-attachment']);
  });

  test('and may be attached counts as mounted until the node’s next status', () => {
    expect(actions(snapshotOf({ attachment: failed, node: node({ heardSince: false }) }))).toEqual([]);
    expect(actions(snapshotOf({ attachment: failed }))).toEqual(['confirm-unused', 'delete-attachment']);
    expect(actions(snapshotOf({ attachment: attached, node: node({ heardSince: false }) }))).toEqual(['confirm-unused', 'delete-attachment']);
  });

  test('is left alone while it is being detached, with its error as the reason', () => {
    const snapshot = snapshotOf({ attachment: detaching(true, 'device busy') });
    expect(decide(snapshot, now)).toEqual({
      actions: [],
      reasons: [{ code: 'Detaching', text: 'driver "driver" is detaching it; the last try failed: device busy', next: 'external attacher' }],
    });
  });

  test.each([
    ['nothing is attached', none],
    ['the attachment is going', detaching()],
  ])('is taken off the node’s list if %s', (_, attachment) => expect(actions(snapshotOf({ attachment, node: listed }))).toEqual(['report-detached']));

  test('includes one whose driver no longer requires attaching', () => {
    expect(actions(needed({ attachRequired: false, attachment: attached, node: listed }))).toEqual(['report-detached', 'delete-attachment']);
    expect(actions(needed({ attachRequired: false }))).toEqual([]);
  });
});

describe('for every snapshot', () => {
  const attachments = fc.oneof(
    fc.constantFrom<AttachmentState>(none, attached, failed, detaching(), detaching(false)),
    fc.integer({ min: 0, max: 4 }).map((age) => attaching(now - age * minutes)),
  );
  const nodes: fc.Arbitrary<NodeState> = fc.oneof(
    fc.boolean().map(gone),
    fc
      .record({ managed: fc.boolean(), ready: fc.boolean(), outOfService: fc.boolean(), listed: fc.boolean(), inUse: fc.boolean(), heardSince: fc.boolean() })
      .map(node),
  );
  const competitors = fc.array(
    fc.record({
      node: fc.constantFrom('n2', 'n3'),
      attachment: attachments,
      pods: fc.constantFrom([], [{ namespace: 'default', name: 'one' }]),
      inUse: fc.boolean(),
    }),
    { maxLength: 2 },
  );
  const snapshots: fc.Arbitrary<AttachDetachSnapshot> = fc
    .record({
      attachment: attachments,
      node: nodes,
      competitors,
      desiredBy: fc.subarray(['web', 'db']).map((names) => names.map((name) => ({ pod: pod(name), volume }))),
      otherUsers: fc.subarray(['default/lost']),
      attachRequired: fc.boolean(),
      unwantedFor: fc.integer({ min: 0, max: 10 }),
    })
    .map(({ desiredBy, otherUsers, unwantedFor, ...more }) =>
      snapshotOf({
        ...more,
        desiredBy,
        users: [...desiredBy.map((desired) => `default/${desired.pod.metadata.name}`), ...otherUsers],
        unwantedSince: now - unwantedFor * minutes,
      }),
    );

  test('it settles: once everything is done there is nothing to do', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        expect(actions(settle(snapshot))).toEqual([]);
      }),
    );
  });

  test('a crash after any prefix ends in the same state', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { actions: all } = decide(snapshot, now);
        const end = settle(snapshot);
        for (let length = 0; length < all.length; length++) {
          // What was recorded is forgotten with the process.
          const crashed = { ...all.slice(0, length).reduce(apply, snapshot), lastEvent: () => undefined };
          expect({ ...settle(crashed), lastEvent: end.lastEvent }).toEqual(end);
        }
      }),
    );
  });

  test('equal snapshots lead to equal decisions', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { lastEvent, ...data } = snapshot;
        expect(decide(snapshot, now)).toEqual(decide({ ...structuredClone(data), lastEvent }, now));
      }),
    );
  });

  test('there is always a reason', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        expect(decide(snapshot, now).reasons).not.toEqual([]);
      }),
    );
  });

  test('no attachment is deleted while the node may mount the volume, nor from a living node that has it mounted', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        let state = snapshot;
        for (const action of decide(snapshot, now).actions) {
          if (action.do === 'delete-attachment' && state.node.state === 'known') {
            expect(state.node.listed).toBe(false);
            expect(state.node.inUse && state.node.ready && !state.node.outOfService).toBe(false);
          }
          state = apply(state, action);
        }
      }),
    );
  });

  test('a volume for one node is never attached while another node has it', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        fc.pre(snapshot.competitors.some(({ attachment }) => attachment.state === 'attached' || attachment.state === 'detaching'));
        expect(actions(snapshot)).not.toContain('create-attachment');
      }),
    );
  });
});

const nameOf = (about: KubeObject | ObjectReference): string => ('metadata' in about ? about.metadata.name : about.name) ?? '';

function afterRecording(done: readonly AttachDetachAction[], before: LastEvent = () => undefined): LastEvent {
  const recorded = new Map(
    done.flatMap((action) => (action.do === 'recordEvent' ? [[action.rememberAs ?? '', { ...action.event, state: action.state, at: now }]] : [])),
  );
  return (key) => recorded.get(key) ?? before(key);
}

/** The world after an action that succeeded. */
function apply(snapshot: AttachDetachSnapshot, action: AttachDetachAction): AttachDetachSnapshot {
  const listed = (isListed: boolean): NodeState => (snapshot.node.state === 'known' ? { ...snapshot.node, listed: isListed } : snapshot.node);
  switch (action.do) {
    case 'create-attachment':
      return { ...snapshot, attachment: { state: 'attaching', object: action.object, since: now } };
    case 'delete-attachment':
      return { ...snapshot, attachment: none };
    case 'report-attached':
      return { ...snapshot, node: listed(true) };
    case 'report-detached':
      return { ...snapshot, node: listed(false) };
    case 'confirm-attached':
    case 'confirm-unused':
      return snapshot;
    case 'recordEvent':
      return { ...snapshot, lastEvent: afterRecording([action], snapshot.lastEvent) };
  }
}

const settle = (snapshot: AttachDetachSnapshot): AttachDetachSnapshot => {
  let state = snapshot;
  for (let pass = 0; pass < 5; pass++) state = decide(state, now).actions.reduce(apply, state);
  return state;
};
