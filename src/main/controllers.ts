import { createHash } from 'node:crypto';
import type { Kind } from '../api/kind.ts';
import { configMapKind } from '../api/kinds/config-map.ts';
import { eventKind } from '../api/kinds/event.ts';
import { leaseKind } from '../api/kinds/lease.ts';
import { namespaceKind } from '../api/kinds/namespace.ts';
import { persistentVolumeClaimKind } from '../api/kinds/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../api/kinds/persistent-volume.ts';
import { serviceAccountKind } from '../api/kinds/service-account.ts';
import { volumeAttributesClassKind } from '../api/kinds/volume-attributes-class.ts';
import { podKind } from '../api/kinds/workloads/pod.ts';
import { attachDetach } from '../controllers/attach-detach/controller.ts';
import { eventSource as ephemeralEventSource } from '../controllers/ephemeral-claims/actions.ts';
import { ephemeralClaims } from '../controllers/ephemeral-claims/controller.ts';
import { expander } from '../controllers/expander/controller.ts';
import { attributesClassProtection, claimProtection, volumeProtection } from '../controllers/protection/controller.ts';
import { quotaController } from '../controllers/quota/controller.ts';
import { volumeAttacher } from '../controllers/volume-attacher/controller.ts';
import { eventSource } from '../domain/volumes/decision.ts';
import type { DriverSet, LedDrivers } from '../drivers/driver-set.ts';
import { type Client, createClient } from '../machinery/client.ts';
import { DefinedKinds } from '../machinery/defined-kinds.ts';
import { type RunningControllers, runLedControllers, type Stoppable, type Term } from '../machinery/controllers.ts';
import { Informers } from '../machinery/informers.ts';
import type { LeaderOptions } from '../machinery/leader.ts';
import { type Controller, type Loop, runController } from '../machinery/loop.ts';
import { Recorder } from '../machinery/recorder.ts';
import { Tellings } from '../machinery/tellings.ts';
import type { Sign } from '../workloads/certificates/actions.ts';
import { clusterRoleAggregation } from '../workloads/cluster-role-aggregation/controller.ts';
import { garbageCollector } from '../workloads/garbage-collector/controller.ts';
import { namespaceController } from '../workloads/namespace/controller.ts';
import { policyStatus } from '../workloads/policy-status/controller.ts';
import { serviceAccountController } from '../workloads/service-account/controller.ts';
import type { Clock, World } from '../world/world.ts';
import type { ControllerName } from './controller-roles.ts';
import type { Connect } from './identities.ts';
import { nodeLoops } from './node-controllers.ts';
import { serviceLoops } from './service-controllers.ts';
import { storageControllers } from './storage-controllers.ts';
import { workloadLoops } from './workload-controllers.ts';

export interface ControllersOptions {
  /** In the server's process, or over HTTPS: the controllers do not know. */
  readonly connect: Connect;
  readonly world: World;
  /** All that the server serves. */
  readonly kinds: readonly Kind[];
  /** Those that were defined at run time, where somebody knows them. */
  readonly customKinds?: () => readonly Kind[];
  /** Absent: others keep house (namespaces, service accounts, garbage, workloads). */
  readonly housekeeping?: {
    /** PEM. */
    readonly rootCa: string;
    /** Absent: who has the authority's key signs certificates elsewhere. */
    readonly sign?: Sign;
  };
  readonly drivers: DriverSet;
  /** Volume and claim are bound in one transaction; else in Kubernetes' four writes. */
  readonly bindsTogether: boolean;
  readonly election: Pick<LeaderOptions, 'identity' | 'takeOver' | 'timing'>;
  /** Objects per page of a list; absent: everything at once. */
  readonly pageSize?: number;
}

/** Every controller, under one lease. Whoever holds it runs them all. */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { connect, world, election } = options;
  return runLedControllers({
    election: {
      ...election,
      world,
      client: createClient({ transport: connect('moor-controllers') }),
      leaseKind,
      lease: { namespace: 'kube-system', name: 'moor-controllers' },
    },
    start: (term) => startTerm(options, term),
  });
}

/** The controllers of one term of office: new caches, so that nothing old is believed. */
function startTerm(options: ControllersOptions, { fence, deposed }: Term): readonly Stoppable[] {
  const { connect, world, kinds, pageSize } = options;
  const client = createClient({ transport: connect('moor-informers') });
  const informers: Informers = new Informers({ world, client, ...(pageSize === undefined ? {} : { pageSize }) });
  const definedKinds = new DefinedKinds(informers);
  const recorders: Recorder[] = [];

  /** What a controller works with: the caches they all share, and a client of its own name. */
  const as = (name: ControllerName) => ({
    client: createClient({ transport: connect(name), observer: informers.observer, fence: () => fence }),
    informers,
    clock: world.clock,
  });
  const recorderFor = (name: ControllerName, component: string) => {
    const recorder = new Recorder({ world, client: as(name).client, eventKind, component });
    recorders.push(recorder);
    return recorder;
  };
  const run: Run = (controller) => runController(controller, { world, informers, onDeposed: deposed });
  const crew: Crew = { as, recorderFor, run, definedKinds, drivers: options.drivers.ledBy(fence) };
  const loops = [
    ...storageLoops(options, crew),
    ...claimLoops(options, crew),
    ...(options.housekeeping === undefined
      ? []
      : [
          ...housekeepingLoops(options.housekeeping.rootCa, options, crew),
          ...workloadLoops(crew),
          ...nodeLoops(options.housekeeping, crew),
          ...serviceLoops(kinds, crew),
        ]),
  ];
  informers.start();
  return [...loops, ...recorders, informers];
}

type Run = <Key extends string, Snapshot, Action>(controller: Controller<Key, Snapshot, Action>) => Loop;

/** What every controller of a term is made with. */
export interface Crew {
  readonly as: (name: ControllerName) => { readonly client: Client; readonly informers: Informers; readonly clock: Clock };
  readonly recorderFor: (name: ControllerName, component: string) => Recorder;
  readonly run: Run;
  readonly definedKinds: DefinedKinds;
  readonly drivers: LedDrivers;
}

/** From a claim to a volume on a node, and back. */
function storageLoops({ world, bindsTogether }: ControllersOptions, { as, recorderFor, run, drivers }: Crew): readonly Loop[] {
  const { attacher, detacher } = attachDetach({
    ...as('attachdetach-controller'),
    recorder: recorderFor('attachdetach-controller', 'attachdetach-controller'),
    sha256,
  });
  const binder = as('persistent-volume-binder');
  const storage = storageControllers({
    ...binder,
    world,
    drivers,
    recorder: recorderFor('persistent-volume-binder', eventSource),
    ...(bindsTogether ? { bindTogether: (pair) => binder.client.bindTogether(pair) } : {}),
  });
  return [
    run(storage.binder),
    run(storage.provisioner),
    run(storage.reclaimer),
    run(attacher),
    run(detacher),
    run(volumeAttacher({ ...as('volume-attacher'), world, drivers, sha256 })),
    run(expander({ ...as('expand-controller'), drivers, recorder: recorderFor('expand-controller', 'volume_expand') })),
  ];
}

/** Who may have and keep a claim. */
function claimLoops({ world, kinds }: ControllersOptions, { as, recorderFor, run, definedKinds }: Crew): readonly Loop[] {
  const tellings = new Tellings(recorderFor('ephemeral-volume-controller', ephemeralEventSource), world.clock);
  return [
    run(claimProtection({ ...as('pvc-protection-controller'), kinds: storageKinds })),
    run(volumeProtection({ ...as('pv-protection-controller'), kinds: storageKinds })),
    run(attributesClassProtection({ ...as('volumeattributesclass-protection-controller'), kinds: storageKinds })),
    run(quotaController({ ...as('resourcequota-controller'), kinds, definedKinds })),
    run(ephemeralClaims({ ...as('ephemeral-volume-controller'), tellings })),
  ];
}

/** What every cluster needs, storage or not. */
function housekeepingLoops(rootCa: string, { kinds, customKinds }: ControllersOptions, { as, recorderFor, run, definedKinds }: Crew): readonly Loop[] {
  const recorder = recorderFor('generic-garbage-collector', 'garbage-collector-controller');
  return [
    run(serviceAccountController({ ...as('service-account-controller'), kinds: serviceAccountKinds, rootCa })),
    run(clusterRoleAggregation(as('clusterrole-aggregation-controller'))),
    run(policyStatus(as('validatingadmissionpolicy-status-controller'))),
    run(namespaceController({ ...as('namespace-controller'), namespaceKind, kinds, definedKinds, ...(customKinds === undefined ? {} : { customKinds }) })),
    run(garbageCollector({ ...as('generic-garbage-collector'), kinds, definedKinds, recorder })),
  ];
}

const storageKinds = { pod: podKind, claim: persistentVolumeClaimKind, volume: persistentVolumeKind, attributesClass: volumeAttributesClassKind };
const serviceAccountKinds = { namespace: namespaceKind, serviceAccount: serviceAccountKind, configMap: configMapKind };
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
