/** Every controller works with its role, and no role grants more than its controller needs. */
import { describe, expect, test } from 'vitest';
import {
  type ControllerName,
  controllerAccount,
  controllerNames,
  controllerRoles,
  controllerAuthorizer,
} from '../../../src/cluster/access/controller-roles.ts';
import type { RequestInfo } from '../../../src/api/request-info.ts';
import type { User } from '../../../src/apiserver/api.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { Authorizer } from '../../../src/apiserver/authorization/authorizer.ts';
import { grantsFor, grantsOf, type StaticRule } from '../../../src/apiserver/authorization/static-roles.ts';
import { allowOthers } from '../../../src/sim/cluster/access.ts';
import { SimulatedDiskDriver } from '../../../src/sim/drivers/simulated-disk-driver.ts';
import { SnapshottingDiskDriver } from '../../../src/sim/drivers/simulated-snapshots.ts';
import { observeConduct } from '../../../src/sim/fuzz/conduct.ts';
import type { Violation } from '../../../src/sim/invariants/observer.ts';
import { simulate } from '../../../src/sim/world/world.ts';
import { MeasuredDiskDriver } from './measured-disk-driver.ts';
import * as life from './scenarios.ts';
import { SimulatedCluster } from '../../../src/sim/cluster/simulated-cluster.ts';

/** Only those of the snapshots' scenarios take any, and only that of the capacities' reports it. */
function disksFor(scenario: string): SimulatedDiskDriver {
  if (scenario === 'storageCapacities') return new MeasuredDiskDriver();
  return /snapshots$/i.test(scenario) ? new SnapshottingDiskDriver() : new SimulatedDiskDriver();
}

const nameOf = (user: User): ControllerName | undefined => controllerNames.find((name) => controllerAccount(name) === user.name);

/** Which controller used which grants, and what was refused: 'pv-protection-controller update /persistentvolumes'. */
class Recording implements Authorizer {
  readonly used = new Set<string>();
  readonly refused = new Set<string>();
  /** By grant: a request that needed it. */
  readonly requests = new Map<string, { readonly user: User; readonly attributes: RequestInfo }>();
  readonly #authorizer = controllerAuthorizer(allowOthers);

  async authorize(user: User, attributes: RequestInfo) {
    const decision = await this.#authorizer.authorize(user, attributes);
    const name = nameOf(user);
    if (name === undefined || attributes.type === 'path') return decision;
    const granted = new Set(grantsOf(controllerRoles[name]));
    const [exact, any, named] = grantsFor(attributes);
    const key = `${name} ${[exact, named].find((grant) => granted.has(grant)) ?? any}`;
    if (decision.allowed) this.used.add(key);
    if (decision.allowed && !this.requests.has(key)) this.requests.set(key, { user, attributes });
    if (!decision.allowed) this.refused.add(`${name} ${exact}`);
    return decision;
  }
}

/** The roles, one of them without one of its grants. */
function without(name: ControllerName, grant: string): Authorizer {
  const rest = controllerRoles[name].flatMap((rule: StaticRule) => split(rule)).filter((rule) => !grantsOf([rule]).includes(grant));
  return controllerAuthorizer(allowOthers, { ...controllerRoles, [name]: rest });
}

/** One verb on one resource each. */
const split = (rule: StaticRule): readonly StaticRule[] =>
  rule.verbs.flatMap((verb): readonly StaticRule[] =>
    'group' in rule ? rule.resources.flatMap((resource) => splitNames({ ...rule, verbs: [verb], resources: [resource] })) : [{ ...rule, verbs: [verb] }],
  );

const splitNames = (rule: Extract<StaticRule, { group: string }>): readonly StaticRule[] => rule.names?.map((name) => ({ ...rule, names: [name] })) ?? [rule];

/** Calls to drivers behind sockets, of which a simulated cluster has none, carry Secrets. */
const usedBySockets = ['persistent-volume-binder get /secrets'];

/** The autoscaler needs a cloud: test/autoscaler/role.test.ts is about its role. */
const granted = controllerNames.filter((name) => name !== 'karpenter').flatMap((name) => grantsOf(controllerRoles[name]).map((grant) => `${name} ${grant}`));

describe('the roles of the controllers', () => {
  test('grant exactly what the controllers use, and each change names the object that was read', async () => {
    const recording = new Recording();
    const misconduct = new Set<string>();
    for (const bindsTogether of [true, false]) {
      for (const [name, story] of Object.entries(life)) {
        await simulate(1, async (world) => {
          const cluster = await SimulatedCluster.start(world, { bindsTogether, authorizer: recording, disks: disksFor(name), controllers: false });
          const onViolation = ({ invariant, what }: Violation) => misconduct.add(`${invariant}: ${what}`);
          const through = (server: Transport) => observeConduct('controllers', server, { onViolation });
          cluster.startControllers({ world, identity: 'test', takeOver: true, through });
          cluster.startScheduler({ identity: 'test', takeOver: true });
          await cluster.wait();
          await story(cluster);
        }).catch((error: unknown) => {
          throw new Error(`${name}: ${String(error)}`, { cause: error });
        });
      }
    }
    expect([...recording.refused].sort()).toEqual([]);
    expect([...misconduct]).toEqual([]);
    expect([...recording.used, ...usedBySockets].sort()).toEqual(granted.toSorted());
    for (const [key, { user, attributes }] of recording.requests) {
      const [name, grant] = [key.slice(0, key.indexOf(' ')) as ControllerName, key.slice(key.indexOf(' ') + 1)];
      expect(await without(name, grant).authorize(user, attributes), `without ${key}`).toMatchObject({ allowed: false });
    }
  });

  test.each([
    ['persistent-volume-binder', 'create mooring.dev/volumebindings'],
    ['persistent-volume-binder', 'update /persistentvolumes/status'],
    ['persistent-volume-binder', 'update /persistentvolumeclaims'],
    ['moor-informers', 'list *'],
    ['moor-controllers', 'create coordination.k8s.io/leases'],
  ] as const)('without its rule, %s cannot %s, and no claim is bound', (name, grant) =>
    simulate(1, async (world) => {
      const cluster = await SimulatedCluster.start(world, { authorizer: without(name, grant) });
      await cluster.volume('volume');
      await cluster.claim('claim');
      expect(await cluster.phaseOfClaim('claim')).toBe('Pending');
    }),
  );
});
