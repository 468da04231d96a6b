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

function situation(more: Partial<AttachDetachSnapshot> = {}): AttachDetachSnapshot {
  const wants = more.desiredBy ?? [];
  return {
    target: { id: 'csi-1', driver: 'driver', handle: 'handle', node: 'n1', uniqueName: 'kubernetes.io/csi/driver^handle' },
    attachRequired: true,
    desiredBy: wants,
    users: wants.map((want) => `${want.pod.metadata.namespace}/${want.pod.metadata.name}`),
    node: node(),
    attachment: none,
    competitors: [],
    unwantedSince: wants.length === 0 ? now : undefined,
    lastEvent: () => undefined,
    ...more,
  };
}
const needed = (more: Partial<AttachDetachSnapshot> = {}): AttachDetachSnapshot => situation({ desiredBy: [{ pod: pod('web'), volume }], ...more });

/** 'create-attachment', 'tell web FailedAttachVolume: …' */
const shown = (actions: readonly AttachDetachAction[]): string[] =>
  actions.map((action) => (action.do === 'recordEvent' ? `tell ${nameOf(action.event.about)} ${action.event.reason}: ${action.event.message}` : action.do));
const actions = (seen: AttachDetachSnapshot, at = now): string[] => shown(decide(seen, at).actions);
const code = (seen: AttachDetachSnapshot): string | undefined => decide(seen, now).reasons[0]?.code;

describe('a volume that a pod needs', () => {
  test('is asked for, under the pair’s name and in the words of the volume', () => {
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

  test('is listed once it is attached, and every pod is told', () => {
    const wants = [pod('one'), pod('two')].map((each) => ({ pod: each, volume }));
    expect(actions(situation({ desiredBy: wants, attachment: attached }))).toEqual([
      'confirm-attached',
      'report-attached',
      'tell one SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "vol" ',
      'tell two SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "vol" ',
    ]);
    expect(actions(situation({ desiredBy: wants, attachment: attached, node: node({ listed: true }) }))).toEqual([]);
  });

  test('is listed again without a word if the node forgot it', () => {
    const lastEvent = () => ({ reason: '', message: '', state: 'attached', at: now - 60 * minutes });
    expect(actions(needed({ attachment: attached, lastEvent }))).toEqual(['confirm-attached', 'report-attached']);
  });

  test('fails aloud, again with each try, and again after five minutes', () => {
    const first = decide(needed({ attachment: failed }), now);
    expect(shown(first.actions)).toEqual(['tell web FailedAttachVolume: AttachVolume.Attach failed for volume "vol" : disk is on fire']);
    const seen = needed({ attachment: failed, lastEvent: afterRecording(first.actions) });
    expect(actions(seen)).toEqual([]);
    expect(decide(seen, now).again).toBe(now + 5 * minutes);
    expect(actions(seen, now + 5 * minutes)).toHaveLength(1);
    expect(actions({ ...seen, attachment: { ...failed, at: '2026-01-01T12:00:00Z' } })).toHaveLength(1);
  });

  test('counts as failed after two minutes without an answer', () => {
    expect(decide(needed({ attachment: attaching() }), now)).toMatchObject({ actions: [], again: now + 2 * minutes });
    expect(actions(needed({ attachment: attaching() }), now + 2 * minutes)).toEqual([
      'tell web FailedAttachVolume: AttachVolume.Attach failed for volume "vol" : timed out waiting for external-attacher of driver CSI driver to attach volume handle',
    ]);
  });

  test('waits for an old attachment to go, and says so only if that was never attached', () => {
    expect(actions(needed({ attachment: detaching() }))).toEqual([]);
    expect(actions(needed({ attachment: detaching(false) }))).toEqual([
      'tell web FailedAttachVolume: AttachVolume.Attach failed for volume "vol" : volume attachment is being deleted',
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
    expect(code(situation({ users: ['default/web'] }))).toBe('ClaimNotBound');
    for (const seen of [needed({ node: node({ managed: false }) }), needed({ node: gone() }), situation({ users: ['default/web'] })])
      expect(actions(seen)).toEqual([]);
  });

  test('stays attached to a node that is gone as long as its pod exists', () => {
    expect(actions(needed({ node: gone(), attachment: attached }))).toEqual([]);
  });
});

describe('a volume for one node only', () => {
  const rival = (attachment: AttachmentState, more: Partial<CompetingAttachment> = {}): CompetingAttachment => ({
    node: 'n2',
    attachment,
    pods: [],
    inUse: false,
    ...more,
  });
  const told = (rivals: readonly CompetingAttachment[]): string[] => actions(needed({ competitors: rivals }));
  const pods = [
    { namespace: 'default', name: 'one' },
    { namespace: 'default', name: 'two' },
    { namespace: 'team', name: 'secret' },
  ];

  test.each([
    ['by pods nearby', pods.slice(0, 2), 'Volume is already used by pod(s) one, two'],
    ['by pods nearby and elsewhere', pods, 'Volume is already used by pod(s) one, two and 1 pod(s) in different namespaces'],
    ['by pods elsewhere', pods.slice(2), 'Volume is already used by 1 pod(s) in different namespaces'],
  ])('waits while it is used %s, and says so once', (_, users, expected) => {
    const seen = needed({ competitors: [rival(attached, { pods: users })] });
    expect(actions(seen)).toEqual([`tell web FailedAttachVolume: Waiting for detach for volume "vol" ${expected}`]);
    expect(actions({ ...seen, lastEvent: afterRecording(decide(seen, now).actions) }, now + 60 * minutes)).toEqual([]);
  });

  test('waits while another node still has it mounted', () => {
    expect(told([rival(attached, { inUse: true })])).toEqual([
      'tell web FailedAttachVolume: Waiting for detach for volume "vol" Volume is already exclusively attached to one node, waiting on detach before it can be attached to another node',
    ]);
  });

  test('waits in silence while it leaves the other node, or arrives there', () => {
    expect(told([rival(attached)])).toEqual([]);
    expect(told([rival(detaching())])).toEqual([]);
    expect(told([rival(attaching())])).toEqual([]);
    expect(decide(needed({ competitors: [rival(attaching())] }), now).again).toBe(now + 2 * minutes);
  });

  test('does not wait for what failed elsewhere', () => {
    expect(told([rival(failed)])).toEqual(['create-attachment']);
    expect(told([rival(attaching(now - 2 * minutes))])).toEqual(['create-attachment']);
  });
});

describe('a volume that no pod needs', () => {
  const listed = node({ listed: true });

  test('leaves the node’s list before its attachment is deleted', () => {
    expect(decide(situation({ attachment: attached, node: listed }), now).actions).toEqual([
      { do: 'report-detached', evenIfInUse: false },
      { do: 'delete-attachment', object },
    ]);
  });

  test('is looked for on the server if the list does not have it', () => {
    expect(actions(situation({ attachment: attached }))).toEqual(['confirm-unused', 'delete-attachment']);
  });

  test('stays while a node has it mounted that is alive', () => {
    const seen = situation({ attachment: attached, node: node({ listed: true, inUse: true }), unwantedSince: now - 60 * minutes });
    expect(actions(seen)).toEqual([]);
    expect(code(seen)).toBe('InUse');
    expect(decide(seen, now).again).toBeUndefined();
  });

  test('is taken after six minutes from a node that has it mounted and is not ready', () => {
    const seen = situation({ attachment: attached, node: node({ listed: true, inUse: true, ready: false }) });
    expect(decide(seen, now)).toMatchObject({ actions: [], again: now + 6 * minutes });
    expect(decide(seen, now + 6 * minutes).actions).toEqual([
      { do: 'report-detached', evenIfInUse: true },
      { do: 'delete-attachment', object },
    ]);
  });

  test('is taken at once from a node that is out of service', () => {
    expect(decide(situation({ attachment: attached, node: node({ listed: true, inUse: true, outOfService: true }) }), now).actions).toEqual([
      { do: 'report-detached', evenIfInUse: true },
      { do: 'delete-attachment', object },
    ]);
  });

  test('is detached from a node that is gone; after six minutes, if that said it was mounted', () => {
    expect(actions(situation({ attachment: attached, node: gone() }))).toEqual(['delete-attachment']);
    expect(actions(situation({ attachment: attached, node: gone(true) }))).toEqual([]);
    expect(actions(situation({ attachment: attached, node: gone(true) }), now + 6 * minutes)).toEqual(['delete-attachment']);
  });

  test('is not detached while it is being attached', () => {
    expect(decide(situation({ attachment: attaching() }), now)).toMatchObject({ actions: [], again: now + 2 * minutes });
    expect(actions(situation({ attachment: attaching() }), now + 2 * minutes)).toEqual(['confirm-unused', 'delete-attachment']);
  });

  test('and that may be attached or not counts as mounted until the node was heard of', () => {
    expect(actions(situation({ attachment: failed, node: node({ heardSince: false }) }))).toEqual([]);
    expect(actions(situation({ attachment: failed }))).toEqual(['confirm-unused', 'delete-attachment']);
    expect(actions(situation({ attachment: attached, node: node({ heardSince: false }) }))).toEqual(['confirm-unused', 'delete-attachment']);
  });

  test('is left alone while it goes, and its trouble is known', () => {
    const seen = situation({ attachment: detaching(true, 'device busy') });
    expect(decide(seen, now)).toEqual({
      actions: [],
      reasons: [{ code: 'Detaching', text: 'driver "driver" is detaching it; the last try failed: device busy', next: 'external attacher' }],
    });
  });

  test.each([
    ['nothing is attached', none],
    ['the attachment is going', detaching()],
  ])('is taken off the node’s list if %s', (_, attachment) => expect(actions(situation({ attachment, node: listed }))).toEqual(['report-detached']));

  test('includes one whose driver wants no attachment any more', () => {
    expect(actions(needed({ attachRequired: false, attachment: attached, node: listed }))).toEqual(['report-detached', 'delete-attachment']);
    expect(actions(needed({ attachRequired: false }))).toEqual([]);
  });
});

describe('in every situation', () => {
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
  const situations: fc.Arbitrary<AttachDetachSnapshot> = fc
    .record({
      attachment: attachments,
      node: nodes,
      competitors,
      wants: fc.subarray(['web', 'db']).map((names) => names.map((name) => ({ pod: pod(name), volume }))),
      otherUsers: fc.subarray(['default/lost']),
      attachRequired: fc.boolean(),
      unwantedFor: fc.integer({ min: 0, max: 10 }),
    })
    .map(({ wants, otherUsers, unwantedFor, ...more }) =>
      situation({
        ...more,
        desiredBy: wants,
        users: [...wants.map((want) => `default/${want.pod.metadata.name}`), ...otherUsers],
        unwantedSince: now - unwantedFor * minutes,
      }),
    );

  test('it settles: once everything is done there is nothing to do', () => {
    fc.assert(
      fc.property(situations, (seen) => {
        expect(actions(settle(seen))).toEqual([]);
      }),
    );
  });

  test('a crash after any prefix ends in the same state', () => {
    fc.assert(
      fc.property(situations, (seen) => {
        const { actions: all } = decide(seen, now);
        const end = settle(seen);
        for (let length = 0; length < all.length; length++) {
          // What was told is forgotten with the process.
          const crashed = { ...all.slice(0, length).reduce(apply, seen), lastEvent: () => undefined };
          expect({ ...settle(crashed), lastEvent: end.lastEvent }).toEqual(end);
        }
      }),
    );
  });

  test('the same leads to the same', () => {
    fc.assert(
      fc.property(situations, (seen) => {
        const { lastEvent, ...data } = seen;
        expect(decide(seen, now)).toEqual(decide({ ...structuredClone(data), lastEvent }, now));
      }),
    );
  });

  test('there is always a reason', () => {
    fc.assert(
      fc.property(situations, (seen) => {
        expect(decide(seen, now).reasons).not.toEqual([]);
      }),
    );
  });

  test('no attachment is deleted while the node may mount the volume, nor from a living node that has it mounted', () => {
    fc.assert(
      fc.property(situations, (seen) => {
        let state = seen;
        for (const action of decide(seen, now).actions) {
          if (action.do === 'delete-attachment' && state.node.state === 'known') {
            expect(state.node.listed).toBe(false);
            expect(state.node.inUse && state.node.ready && !state.node.outOfService).toBe(false);
          }
          state = apply(state, action);
        }
      }),
    );
  });

  test('a volume for one node is never asked for where another has it', () => {
    fc.assert(
      fc.property(situations, (seen) => {
        fc.pre(seen.competitors.some(({ attachment }) => attachment.state === 'attached' || attachment.state === 'detaching'));
        expect(actions(seen)).not.toContain('create-attachment');
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
function apply(seen: AttachDetachSnapshot, action: AttachDetachAction): AttachDetachSnapshot {
  const listed = (isListed: boolean): NodeState => (seen.node.state === 'known' ? { ...seen.node, listed: isListed } : seen.node);
  switch (action.do) {
    case 'create-attachment':
      return { ...seen, attachment: { state: 'attaching', object: action.object, since: now } };
    case 'delete-attachment':
      return { ...seen, attachment: none };
    case 'report-attached':
      return { ...seen, node: listed(true) };
    case 'report-detached':
      return { ...seen, node: listed(false) };
    case 'confirm-attached':
    case 'confirm-unused':
      return seen;
    case 'recordEvent':
      return { ...seen, lastEvent: afterRecording([action], seen.lastEvent) };
  }
}

const settle = (seen: AttachDetachSnapshot): AttachDetachSnapshot => {
  let state = seen;
  for (let pass = 0; pass < 5; pass++) state = decide(state, now).actions.reduce(apply, state);
  return state;
};
