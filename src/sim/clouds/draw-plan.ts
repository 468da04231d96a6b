import type { Fault } from '../../cloud/engine/faults.ts';
import { Prng } from '../world/prng.ts';
import { type CloudEvent, type CloudFault, type CloudWorldPlan, type PoolPlan, storageClasses, type UserAction, type WorkloadPlan, zones } from './plan.ts';

/** How long users act and faults strike. */
const busyMs = 10 * 60_000;

/** The plan of a seed: always the same one. One world in six is calm. */
export function drawCloudPlan(seed: number): CloudWorldPlan {
  const random = new Prng(seed).fork();
  const isCalm = random.chance(1 / 6);
  const workloads = Array.from({ length: 1 + random.below(3) }, (_, i) => drawWorkload(`w${i + 1}`, random));
  const events: CloudEvent[] = workloads.map((workload) => ({ at: random.below(isCalm ? 5_000 : 120_000), do: 'create', ...workload }));
  if (!isCalm) {
    for (let left = random.below(8); left > 0; left--) events.push({ at: random.below(busyMs), ...drawAction(workloads, random) });
    for (let left = random.below(6); left > 0; left--) events.push({ at: random.below(busyMs), ...drawFault(random) });
  }
  return { seed, pool: drawPool(random, isCalm), events: events.sort((a, b) => a.at - b.at) };
}

const pick = <T>(random: Prng, all: readonly T[]): T => all[random.below(all.length)] as T;

function drawPool(random: Prng, isCalm: boolean): PoolPlan {
  const capacityTypes = pick(random, [['on-demand'], ['spot', 'on-demand'], ['spot', 'on-demand']]);
  const families = pick(random, [[], [], ['m5', 'c5'], ['t3', 'm6i', 'c7i'], ['m4', 'r5']]);
  const consolidateAfter = pick(random, ['0s', '30s', '30s', '2m', 'Never']);
  return { capacityTypes, families, consolidateAfter, ...(!isCalm && random.chance(0.15) ? { expireAfter: '8m' } : {}) };
}

function drawWorkload(name: string, random: Prng): WorkloadPlan {
  const kind = pick(random, ['set', 'set', 'shared', 'stateless'] as const);
  // Many small pods with many volumes meet the limits of nodes.
  const isWide = kind === 'set' && random.chance(0.25);
  const storageClass = pick(random, Object.keys(storageClasses));
  const volumes = isWide ? 6 + random.below(6) : 1 + random.below(2);
  return {
    name,
    kind,
    replicas: kind === 'shared' ? 1 : 1 + random.below(isWide ? 6 : 4),
    cpu: isWide ? '50m' : pick(random, ['100m', '500m', '1', '3']),
    // Volumes that are made before there is a pod can be in different zones: their pod would fit nowhere.
    volumes: storageClass === 'immediate' ? 1 : volumes,
    storageClass,
    hasBudget: random.chance(0.3),
    spreads: random.chance(0.3),
  };
}

function drawAction(workloads: readonly WorkloadPlan[], random: Prng): UserAction {
  const { name, kind } = pick(random, workloads);
  const number = random.below(100);
  switch (random.below(8)) {
    case 0:
    case 1:
      // Pods that share a volume run only where it is attached.
      return { do: 'scale', name, replicas: random.below(kind === 'shared' ? 2 : 6) };
    case 2:
      return { do: 'remove', name };
    case 3:
      return { do: 'delete pod', number };
    case 4:
      return { do: 'delete node', number };
    case 5:
      return { do: 'delete node claim', number };
    case 6:
      return { do: 'cordon', number };
    default:
      return { do: 'label pool', value: `v${number}` };
  }
}

function drawFault(random: Prng): CloudFault {
  const forMs = 10_000 + random.below(240_000);
  const number = random.below(100);
  switch (random.below(10)) {
    case 0:
      return { do: 'lose instance', number };
    case 1:
      return { do: 'freeze instance', number, forMs };
    case 2:
      return { do: 'crash', process: pick(random, ['controllers', 'scheduler', 'server']), forMs: 1_000 + random.below(60_000) };
    case 3:
    case 4:
      return { do: 'crash at change', changes: 1 + random.below(4), forMs: 1_000 + random.below(60_000) };
    default:
      return { do: 'fault', fault: drawCloudFault(random), forMs };
  }
}

function drawCloudFault(random: Prng): Fault {
  switch (random.below(8)) {
    case 0:
      return { fault: 'throttling', probability: pick(random, [0.3, 0.9]) };
    case 1:
    case 2:
      return { fault: 'lost-answer', probability: 0.4 };
    case 3:
      return { fault: 'stuck-attaching', probability: 0.5 };
    case 4:
      return { fault: 'describe-lag', seconds: 5 + random.below(30) };
    case 5:
      return { fault: 'insufficient-capacity', zones: [pick(random, zones)] };
    case 6:
      return random.chance(0.5) ? { fault: 'insufficient-capacity', capacityType: 'spot' } : { fault: 'insufficient-capacity' };
    default:
      return { fault: 'dark-zone', zone: pick(random, zones) };
  }
}
