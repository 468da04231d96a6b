import { expect, test } from 'vitest';
import type { CsiDriverFeatures } from '../../src/sim/drivers/csi/backend.ts';
import type { Fault } from '../../src/sim/fuzz/plan/faults.ts';
import type { FuzzPlan } from '../../src/sim/fuzz/plan/plan.ts';
import type { UserAction } from '../../src/sim/fuzz/plan/user-actions.ts';
import { runPlan } from '../../src/sim/fuzz/run-plan.ts';

const driver: CsiDriverFeatures = {
  name: 'a.csi.example.com',
  prefix: 'a',
  attaches: true,
  stages: true,
  zones: false,
  limit: 0,
  expansion: 'online',
  clones: true,
  lists: true,
  extraGi: 0,
  snapshotRounds: 1,
};

const setUp: readonly UserAction[] = [
  { do: 'create-csi-driver', driver: driver.name, attaches: true },
  { do: 'create-csi-class', name: 'now', driver: driver.name, reclaim: 'Delete', waits: false },
  { do: 'create-snapshot-class', name: 'snap', driver: driver.name, policy: 'Delete', ofGroups: false },
];

/** A small world with one driver behind its sockets. */
const world = (steps: readonly (readonly [number, UserAction])[], faults: readonly Fault[] = []): FuzzPlan => ({
  seed: 1,
  settings: { nodes: 1, volumeLimit: undefined, store: 'memory', bindsTogether: true, leaders: 1, agents: ['node-1'], csi: [driver], confluent: false },
  actions: [...setUp.map((action) => ({ at: 0, who: 'admin' as const, action })), ...steps.map(([at, action]) => ({ at, who: 'user' as const, action }))],
  faults,
});

test('a volume is written, snapshotted, restored and mounted, through the bytes of CSI', async () => {
  const { violation, timeline } = await runPlan(
    world([
      [1_000, { do: 'create-csi-claim', name: 'source', storageClass: 'now', sizeGi: 1 }],
      [2_000, { do: 'create-pod', name: 'writer', claims: ['source'] }],
      [10_000, { do: 'create-snapshot', name: 'before', claim: 'source', snapshotClass: 'snap' }],
      [20_000, { do: 'create-csi-claim', name: 'copy', storageClass: 'now', sizeGi: 1, from: { kind: 'VolumeSnapshot', name: 'before' } }],
      [21_000, { do: 'create-pod', name: 'reader', claims: ['copy'] }],
    ]),
  );
  expect(violation).toBeUndefined();
  const text = timeline.join('\n');
  expect(text).toMatch(/snapshot default\/before .*ready true/);
  expect(text).toMatch(/claim default\/copy phase Bound/);
  expect(text).toMatch(/pod default\/reader phase Running/);
});

test('a claim that was cloned goes, although the claim of the clone was deleted before the clone was made', async () => {
  const late: Fault = { kind: 'csi-call', at: 9_000, driver: driver.name, calls: 0, fault: { what: 'late', ms: 30_000 } };
  const { violation, timeline } = await runPlan(
    world(
      [
        [1_000, { do: 'create-csi-claim', name: 'origin', storageClass: 'now', sizeGi: 1 }],
        [10_000, { do: 'create-csi-claim', name: 'clone', storageClass: 'now', sizeGi: 1, from: { kind: 'PersistentVolumeClaim', name: 'origin' } }],
        [12_000, { do: 'delete-claim', name: 'origin' }],
        [13_000, { do: 'delete-claim', name: 'clone' }],
      ],
      [late],
    ),
  );
  expect(timeline.join('\n')).toMatch(/claim default\/origin is gone/);
  expect(violation).toBeUndefined();
});
