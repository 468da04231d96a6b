import type { Kind } from '../../api/kind.ts';
import { configMapKind } from '../../api/kinds/core/config-map.ts';
import { eventKind } from '../../api/kinds/core/event.ts';
import { leaseKind } from '../../api/kinds/coordination/lease.ts';
import { namespaceKind } from '../../api/kinds/core/namespace.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { serviceAccountKind } from '../../api/kinds/core/service-account.ts';
import { volumeAttributesClassKind } from '../../api/kinds/storage/volume-attributes-class.ts';
import { referenceGrantKind } from '../../api/kinds/data-source/reference-grant.ts';
import { volumePopulatorKind } from '../../api/kinds/data-source/volume-populator.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import { volumeGroupSnapshotKind } from '../../api/kinds/snapshot/volume-group-snapshot.ts';
import { volumeSnapshotKind } from '../../api/kinds/snapshot/volume-snapshot.ts';
import { attachDetach } from '../../storage/attach-detach/controller.ts';
import { dataSourceValidator } from '../../storage/data-source-validator/controller.ts';
import { ephemeralVolumeController } from '../../storage/ephemeral-volume/controller.ts';
import { expander } from '../../storage/expander/controller.ts';
import { modifier } from '../../storage/modifier/controller.ts';
import { attributesClassProtection, claimProtection, volumeProtection } from '../../storage/protection/controller.ts';
import { quotaController } from '../../controllers/cluster/resource-quota/controller.ts';
import { csiCapacity } from '../../storage/csi-capacity/controller.ts';
import { csiAttacher } from '../../storage/csi-attacher/controller.ts';
import { snapshotter } from '../../storage/snapshotter/controller.ts';
import type { ReclaimerOptions } from '../../storage/reclaimer/controller.ts';
import type { DriverSet } from '../../drivers/driver-set.ts';
import { createClient, type VolumeClaimBinding } from '../../client/client.ts';
import { DefinedKinds } from '../../client/controller/defined-kinds.ts';
import { type RunningControllers, runLeaderElectedControllers, type Stoppable, type LeaderTerm } from '../../client/controller/leader-elected-controllers.ts';
import { Informers } from '../../client/informers/informers.ts';
import type { LeaderElectionOptions } from '../../client/controller/leader-election.ts';
import { type ControllerLoop, runController } from '../../client/controller/loop.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { RecordedEvents } from '../../client/events/event-dedup.ts';
import type { Sign } from '../../controllers/cluster/certificates/actions.ts';
import { clusterRoleAggregation } from '../../controllers/cluster/cluster-role-aggregation/controller.ts';
import { garbageCollector } from '../../controllers/cluster/garbage-collector/controller.ts';
import { namespaceController } from '../../controllers/cluster/namespace/controller.ts';
import { policyStatus } from '../../controllers/cluster/validating-admission-policy-status/controller.ts';
import { serviceAccountController } from '../../controllers/cluster/service-account/controller.ts';
import type { World } from '../../world/world.ts';
import type { ControllerName } from '../access/controller-roles.ts';
import { type EventfulController, eventSources } from './event-sources.ts';
import type { Connect } from '../access/identities.ts';
import type { CsiSockets } from '../nodes/csi-endpoints.ts';
import { builtInDrivers } from './built-in-drivers.ts';
import type { ControllerContext } from './controller-context.ts';
import { sha256 } from '../sha256.ts';
import type { CloudProvider } from '../../autoscaler/cloud-provider.ts';
import { autoscalerLoops } from './autoscaler-controllers.ts';
import { nodeLoops } from './node-controllers.ts';
import { serviceLoops } from './service-controllers.ts';
import { storageControllers } from './storage-controllers.ts';
import { workloadLoops } from './workload-controllers.ts';

export interface ControllersOptions {
  /** Connects to the API server in this process or over HTTPS. */
  readonly connect: Connect;
  readonly world: World;
  /** All kinds that the API server serves. */
  readonly kinds: readonly Kind[];
  /** Kinds of CustomResourceDefinitions; absent: the controllers learn them from the definitions. */
  readonly customKinds?: () => readonly Kind[];
  /** Absent: the controllers of namespaces, service accounts, garbage and workloads run elsewhere. */
  readonly housekeeping?: {
    /** PEM. */
    readonly rootCa: string;
    /** Absent: certificates are signed elsewhere, by the holder of the authority's key. */
    readonly sign?: Sign;
  };
  /** Which groups of controllers run besides: `workloads` own pods, or follow them for Services; `nodes` watch nodes. Absent: both. */
  readonly groups?: { readonly workloads: boolean; readonly nodes: boolean };
  readonly drivers: DriverSet;
  /** Absent: only the drivers of `drivers` have their controllers here. */
  readonly csiSockets?: CsiSockets;
  /** True: a PV and a PVC are bound in one transaction; false: in Kubernetes' four writes. */
  readonly bindsTogether: boolean;
  readonly election: Pick<LeaderElectionOptions, 'identity' | 'takeOver' | 'timing'>;
  /** Objects per page of a list; absent: everything at once. */
  readonly pageSize?: number;
  /** The cloud that the autoscaler launches nodes in. Absent: there is no autoscaler. */
  readonly autoscaler?: { readonly provider: (informers: Informers) => CloudProvider };
  /** See `ReclaimerOptions`. */
  readonly listDirectory?: ReclaimerOptions['listDirectory'];
}

/** Every controller, under one Lease: the process that holds it runs them all. */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { connect, world, election } = options;
  return runLeaderElectedControllers({
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

/** The controllers of one leader term, with new caches: a stale cache could decide against the last leader's writes. */
function startTerm(options: ControllersOptions, { fence, deposed }: LeaderTerm): readonly Stoppable[] {
  const { connect, world, kinds, pageSize } = options;
  const client = createClient({ transport: connect('moor-informers') });
  const informers: Informers = new Informers({ world, client, ...(pageSize === undefined ? {} : { pageSize }) });
  const definedKinds = new DefinedKinds(informers, kinds);
  const recorders: EventRecorder[] = [];

  /** What a controller is built with: the shared caches, and a client with its own name. */
  const as = (name: ControllerName) => ({
    client: createClient({ transport: connect(name), observer: informers.observer, fence: () => fence }),
    informers,
    clock: world.clock,
  });
  const recorderFor = (name: EventfulController) => {
    const recorder = new EventRecorder({ world, client: as(name).client, eventKind, component: eventSources[name] });
    recorders.push(recorder);
    return recorder;
  };
  const run: ControllerContext['run'] = (controller) => runController(controller, { world, informers, onDeposed: deposed });
  const context: ControllerContext = { as, recorderFor, run, definedKinds, drivers: options.drivers.fencedBy(fence) };
  const loops = [
    ...storageLoops(options, context),
    ...claimLoops(options, context),
    ...snapshotLoops(options, context),
    ...capacityLoops(options, context),
    ...(options.autoscaler === undefined ? [] : autoscalerLoops(options.autoscaler.provider(informers), context, world)),
    ...(options.housekeeping === undefined
      ? []
      : [
          ...housekeepingLoops(options.housekeeping.rootCa, options, context),
          ...(options.groups?.workloads === false ? [] : [...workloadLoops(context), ...serviceLoops(kinds, context)]),
          ...(options.groups?.nodes === false ? [] : nodeLoops(options.housekeeping, context)),
        ]),
  ];
  const { csiSockets } = options;
  const builtIn = csiSockets === undefined ? [] : [builtInDrivers({ informers, sockets: csiSockets, recorder: recorderFor('persistent-volume-binder') })];
  informers.start();
  return [...loops, ...builtIn, ...recorders, informers];
}

/** From a PVC to a volume on a node, and back. */
function storageLoops(
  { world, kinds, bindsTogether, listDirectory }: ControllersOptions,
  { as, recorderFor, run, drivers }: ControllerContext,
): readonly ControllerLoop[] {
  const { attacher, detacher } = attachDetach({
    ...as('attachdetach-controller'),
    events: new RecordedEvents(recorderFor('attachdetach-controller'), world.clock),
    sha256,
  });
  const binder = as('persistent-volume-binder');
  const storage = storageControllers({
    ...binder,
    world,
    drivers,
    hasSnapshots: serves(kinds, volumeSnapshotKind),
    hasDataSources: serves(kinds, volumePopulatorKind) && serves(kinds, referenceGrantKind),
    listDirectory,
    recorder: recorderFor('persistent-volume-binder'),
    ...(bindsTogether ? { bindTogether: (binding: VolumeClaimBinding) => binder.client.bindTogether(binding) } : {}),
  });
  const resizer = { ...as('expand-controller'), log: world.log, drivers, events: new RecordedEvents(recorderFor('expand-controller'), world.clock) };
  return [
    run(storage.binder),
    run(storage.provisioner),
    run(storage.reclaimer),
    run(attacher),
    run(detacher),
    run(csiAttacher({ ...as('volume-attacher'), world, drivers, sha256 })),
    run(expander(resizer)),
    run(modifier(resizer)),
  ];
}

/** Snapshots, where the server has their kinds. */
function snapshotLoops({ world, kinds }: ControllersOptions, { as, recorderFor, run, drivers }: ControllerContext): readonly ControllerLoop[] {
  if (!serves(kinds, volumeSnapshotKind)) return [];
  const events = new RecordedEvents(recorderFor('snapshot-controller'), world.clock);
  return [run(snapshotter({ ...as('snapshot-controller'), drivers, events, sha256, hasGroups: serves(kinds, volumeGroupSnapshotKind) }))];
}

/** CSIStorageCapacity objects, where there may be drivers that report their capacity. */
function capacityLoops({ world, drivers: set, csiSockets }: ControllersOptions, { as, run, drivers }: ControllerContext): readonly ControllerLoop[] {
  const mayReport = csiSockets !== undefined || Array.from(set.all()).some(({ capabilities }) => capabilities.csi?.reportsCapacity === true);
  return mayReport ? [run(csiCapacity({ ...as('csi-capacity-controller'), world, drivers, sha256 }))] : [];
}

/** Other servers have them only if their definitions were applied before this process started. */
const serves = (kinds: readonly Kind[], { group, kind }: Pick<Kind, 'group' | 'kind'>): boolean =>
  kinds.some((one) => one.group === group && one.kind === kind);

/** Protection, quota and ephemeral PVCs. */
function claimLoops({ world, kinds }: ControllersOptions, { as, recorderFor, run, definedKinds }: ControllerContext): readonly ControllerLoop[] {
  const events = new RecordedEvents(recorderFor('ephemeral-volume-controller'), world.clock);
  const { informers } = as('volume-data-source-validator');
  return [
    run(claimProtection({ ...as('pvc-protection-controller'), kinds: storageKinds })),
    run(volumeProtection({ ...as('pv-protection-controller'), kinds: storageKinds })),
    run(attributesClassProtection({ ...as('volumeattributesclass-protection-controller'), kinds: storageKinds })),
    run(quotaController({ ...as('resourcequota-controller'), kinds, definedKinds })),
    run(ephemeralVolumeController({ ...as('ephemeral-volume-controller'), events })),
    ...(serves(kinds, volumePopulatorKind)
      ? [run(dataSourceValidator({ informers, events: new RecordedEvents(recorderFor('volume-data-source-validator'), world.clock) }))]
      : []),
  ];
}

/** What every cluster needs, with or without storage. */
function housekeepingLoops(
  rootCa: string,
  { kinds, customKinds }: ControllersOptions,
  { as, recorderFor, run, definedKinds }: ControllerContext,
): readonly ControllerLoop[] {
  const recorder = recorderFor('generic-garbage-collector');
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
