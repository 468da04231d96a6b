import type { CsiDriverFeatures } from '../../drivers/csi/backend.ts';
import { type CallFault, openEnded, refusals } from '../../drivers/csi/call-faults.ts';
import { Prng } from '../../world/prng.ts';
import type { CsiDataSource } from './csi-actions.ts';
import type { CsiFault } from './csi-faults.ts';
import { actionsEndMs } from './draw-actions.ts';
import { type FuzzPlan, type FuzzSettings, nodeName } from './plan.ts';
import type { TimedAction, UserAction } from './user-actions.ts';

/** Of the worlds whose end depends on the order. */
const share = 0.35;

/**
 * The world with CSI drivers behind sockets; most worlds have none. From a generator that depends on the seed alone, so that no other draw changes. Every
 * node then has the real agent.
 */
export function withCsi(plan: FuzzPlan): FuzzPlan {
  const random = new Prng(plan.seed ^ 0xc51);
  if (plan.settings.confluent || !random.chance(share)) return plan;
  const drivers = ['a', 'b'].map((prefix) => drawFeatures(random, prefix));
  const nodes = Array.from({ length: plan.settings.nodes }, (_, i) => nodeName(i + 1));
  const { volumeLimit: _, ...others } = plan.settings;
  const settings: FuzzSettings = { ...others, volumeLimit: undefined, agents: nodes, csi: drivers };
  const draw = new CsiDraw(random, drivers);
  const actions = [...plan.actions.filter(({ action }) => random.chance(kept) || endsCronJob(action)), ...draw.setUp(), ...draw.stories()].sort(
    (a, b) => a.at - b.at,
  );
  const faults = [...plan.faults.filter(() => random.chance(kept)), ...drawFaults(random, drivers, nodes)].sort((a, b) => a.at - b.at);
  return { ...plan, settings, actions, faults };
}

/** Without it, a world with a CronJob is never quiet. */
const endsCronJob = (action: UserAction): boolean =>
  action.do === 'suspend-cron-job' ? action.suspended : action.do === 'delete-workload' && action.kind === 'CronJob';

/** How much of the rest stays: such a world takes no longer than others, and drivers are more often up than not. */
const kept = 0.35;

function drawFeatures(random: Prng, prefix: string): CsiDriverFeatures {
  const attaches = random.chance(0.75);
  return {
    name: `${prefix}.csi.example.com`,
    prefix,
    attaches,
    stages: random.chance(0.75),
    zones: random.chance(0.3),
    limit: attaches && random.chance(0.3) ? 3 : 0,
    expansion: random.chance(0.4) ? 'online' : random.chance(0.7) ? 'node' : 'offline',
    clones: true,
    lists: random.chance(0.6),
    extraGi: random.chance(0.3) ? 1 : 0,
    snapshotRounds: random.below(3),
  };
}

function drawFaults(random: Prng, drivers: readonly CsiDriverFeatures[], nodes: readonly string[]): readonly CsiFault[] {
  const of = <T>(choices: readonly [T, ...T[]] | readonly T[]): T => choices[random.below(choices.length)] as T;
  return Array.from({ length: 10 + random.below(12) }, (): CsiFault => {
    const [at, driver, node, forMs] = [random.below(actionsEndMs), of(drivers).name, of(nodes), random.below(30_000)];
    const kind = random.below(12);
    if (kind === 0) return { kind: 'csi-gone', at, driver, node, forMs };
    if (kind === 1) return { kind: 'csi-down', at, driver, forMs };
    if (kind === 2) return { kind: 'csi-kill-caller', at, calls: random.below(6), moment: of(['before', 'after']), backMs: random.below(15_000) };
    const fault = drawCallFault(random);
    return { kind: 'csi-call', at, driver, ...(random.chance(0.5) ? { node } : {}), calls: random.below(2), fault };
  });
}

function drawCallFault(random: Prng): CallFault {
  const moment = random.chance(0.5) ? 'before' : 'after';
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2: {
      const codes = moment === 'before' && random.chance(0.6) ? refusals : openEnded;
      return { what: 'refuse', moment, code: codes[random.below(codes.length)] ?? 'Internal' };
    }
    case 3:
      return { what: 'late', ms: random.below(40_000) };
    case 4:
      return { what: 'hang', moment };
    case 5:
      return { what: 'twice' };
    case 6:
      return { what: 'garbage' };
    default:
      return { what: 'crash', moment, backMs: random.below(20_000) };
  }
}

type Story = (draw: CsiDraw, number: number) => readonly UserAction[];

/** Between two steps of a user. */
const [shortPauseMs, longPauseMs] = [1_500, 8_000];

/** What users do with the drivers, in episodes of several steps: each depends on the last. */
class CsiDraw {
  readonly random: Prng;
  readonly #drivers: readonly CsiDriverFeatures[];

  constructor(random: Prng, drivers: readonly CsiDriverFeatures[]) {
    this.random = random;
    this.#drivers = drivers;
  }

  setUp(): readonly TimedAction[] {
    return this.#drivers.flatMap(({ name: driver, prefix, attaches }) => {
      const policy = this.random.chance(0.7) ? 'Delete' : 'Retain';
      const reclaim = this.random.chance(0.8) ? 'Delete' : 'Retain';
      const actions: readonly UserAction[] = [
        { do: 'create-csi-driver', driver, attaches },
        { do: 'create-csi-class', name: `${prefix}-now`, driver, reclaim: 'Delete', waits: false },
        { do: 'create-csi-class', name: `${prefix}-late`, driver, reclaim, waits: true },
        { do: 'create-snapshot-class', name: `${prefix}-snap`, driver, policy, ofGroups: false },
        { do: 'create-snapshot-class', name: `${prefix}-group`, driver, policy, ofGroups: true },
      ];
      return actions.map((action) => ({ at: 0, who: 'admin' as const, action }));
    });
  }

  stories(): readonly TimedAction[] {
    return Array.from({ length: 4 + this.random.below(3) }, (_, i) => {
      const steps = (all[this.random.below(all.length)] ?? restored)(this, i + 1);
      let at = this.random.below(actionsEndMs / 2);
      return steps.map((action) => {
        at = Math.min(at + this.random.below(this.random.chance(0.5) ? shortPauseMs : longPauseMs), actionsEndMs);
        return { at, who: 'user' as const, action };
      });
    }).flat();
  }

  prefix(): string {
    return this.#drivers[this.random.below(this.#drivers.length)]?.prefix ?? 'a';
  }

  classOf(prefix: string): string {
    return `${prefix}-${this.random.chance(0.5) ? 'now' : 'late'}`;
  }

  /** A step that may be left out. */
  maybe(...actions: readonly UserAction[]): readonly UserAction[] {
    return this.random.chance(0.6) ? actions : [];
  }

  mixed(...actions: readonly UserAction[]): readonly UserAction[] {
    return actions
      .map((action) => ({ action, order: this.random.float() }))
      .sort((a, b) => a.order - b.order)
      .map(({ action }) => action);
  }
}

const claim = (name: string, storageClass: string, sizeGi: number, from?: CsiDataSource): UserAction => ({
  do: 'create-csi-claim',
  name,
  storageClass,
  sizeGi,
  ...(from === undefined ? {} : { from }),
});
const pod = (of: string): UserAction => ({ do: 'create-pod', name: `pod-of-${of}`, claims: [of] });
const deletePod = (of: string): UserAction => ({ do: 'delete-pod', name: `pod-of-${of}`, atOnce: false });
const deleteClaim = (name: string): UserAction => ({ do: 'delete-claim', name });
const write: UserAction = { do: 'write' };

/** A snapshot, and what is restored from it, while the source and the snapshot go. */
const restored: Story = (draw, number) => {
  const [prefix, source, copy, snapshot] = [draw.prefix(), `source-${number}`, `restored-${number}`, `snapshot-${number}`];
  return [
    claim(source, draw.classOf(prefix), 1 + draw.random.below(2)),
    pod(source),
    { do: 'create-snapshot', name: snapshot, claim: source, snapshotClass: `${prefix}-snap` },
    ...draw.maybe(write),
    claim(copy, draw.classOf(prefix), 3, { kind: 'VolumeSnapshot', name: snapshot }),
    pod(copy),
    ...draw.mixed(
      ...draw.maybe({ do: 'delete-snapshot', name: snapshot }),
      ...draw.maybe(deletePod(source), deleteClaim(source)),
      ...draw.maybe(write, { do: 'create-snapshot', name: `${snapshot}-again`, claim: source, snapshotClass: `${prefix}-snap` }),
      ...draw.maybe(deletePod(copy), deleteClaim(copy)),
    ),
  ];
};

const cloned: Story = (draw, number) => {
  const [prefix, source, copy] = [draw.prefix(), `origin-${number}`, `clone-${number}`];
  return [
    claim(source, `${prefix}-now`, 1),
    ...draw.maybe(pod(source), write),
    ...draw.mixed(claim(copy, draw.classOf(prefix), 1 + draw.random.below(2) + 1, { kind: 'PersistentVolumeClaim', name: source }), pod(copy)),
    ...draw.maybe(deletePod(source)),
    ...draw.maybe(deleteClaim(source)),
    ...draw.maybe(deletePod(copy), deleteClaim(copy)),
  ];
};

const grown: Story = (draw, number) => {
  const [prefix, name] = [draw.prefix(), `grown-${number}`];
  return [
    claim(name, draw.classOf(prefix), 1),
    pod(name),
    { do: 'resize-claim', name, sizeGi: 3 },
    ...draw.maybe(deletePod(name)),
    ...draw.maybe({ do: 'resize-claim', name, sizeGi: 5 }, pod(name)),
    ...draw.maybe(deletePod(name), deleteClaim(name)),
  ];
};

const grouped: Story = (draw, number) => {
  const [prefix, group] = [draw.prefix(), `group-${number}`];
  const members = [`${group}-1`, `${group}-2`];
  return [
    ...members.map((name): UserAction => ({ do: 'create-csi-claim', name, storageClass: `${prefix}-now`, sizeGi: 1, group })),
    ...draw.maybe(pod(`${group}-1`), write),
    { do: 'create-group-snapshot', name: group, group, snapshotClass: `${prefix}-group` },
    ...draw.maybe(deleteClaim(`${group}-2`)),
    ...draw.maybe({ do: 'delete-group-snapshot', name: group }),
  ];
};

const churned: Story = (draw, number) => {
  const [prefix, name] = [draw.prefix(), `churn-${number}`];
  const round = [claim(name, draw.classOf(prefix), 1), pod(name), deletePod(name), deleteClaim(name)];
  return [...round, ...round];
};

const database: Story = (draw, number) => {
  const name = `csi-db-${number}`;
  return [
    { do: 'create-stateful-set', name, replicas: 2, storageClass: draw.classOf(draw.prefix()), deletesClaims: draw.random.chance(0.5) },
    { do: 'scale-stateful-set', name, replicas: draw.random.below(3) },
    ...draw.maybe({ do: 'delete-stateful-set', name }),
  ];
};

const all: readonly Story[] = [restored, restored, cloned, cloned, grown, grouped, churned, database];
