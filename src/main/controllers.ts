import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
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
import { eventSource } from '../domain/volumes/decision.ts';
import type { DriverSet } from '../drivers/driver-set.ts';
import { type RunningControllers, runLedControllers, type Stoppable, type Term } from '../machinery/controllers.ts';
import { Informers } from '../machinery/informers.ts';
import { type Controller, runController } from '../machinery/loop.ts';
import { Recorder } from '../machinery/recorder.ts';
import { Tellings } from '../machinery/tellings.ts';
import type { Api } from '../server/api.ts';
import { garbageCollector } from '../workloads/garbage-collector/controller.ts';
import { namespaceController } from '../workloads/namespace/controller.ts';
import { serviceAccountController } from '../workloads/service-account/controller.ts';
import type { World } from '../world/world.ts';
import { controllerClient } from './identities.ts';
import { storageControllers } from './storage-controllers.ts';

export interface ControllersOptions {
  readonly api: Api;
  readonly world: World;
  readonly kinds: readonly Kind[];
  /** PEM. */
  readonly rootCa: string;
  readonly drivers: DriverSet;
  /** Volume and claim are bound in one transaction; else in Kubernetes' four writes. */
  readonly bindsTogether: boolean;
}

/**
 * Every controller of `moor up`, in the server's process and under one lease. The lease is taken at once: whoever holds the
 * store leads, and the store has one holder.
 */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { api, world } = options;
  return runLedControllers({
    election: {
      world,
      client: controllerClient(api, 'moor-controllers', {}),
      leaseKind,
      lease: { namespace: 'kube-system', name: 'moor-controllers' },
      identity: hostname(),
      takeOver: true,
    },
    start: (term) => startTerm(options, term),
  });
}

/** The controllers of one term of office: new caches, so that nothing old is believed. */
function startTerm({ api, world, kinds, rootCa, drivers, bindsTogether }: ControllersOptions, { fence, deposed }: Term): readonly Stoppable[] {
  const informers = new Informers({ world, client: controllerClient(api, 'moor-informers', {}) });
  const recorders: Recorder[] = [];
  const { clock } = world;

  /** What a controller works with: the caches they all share, and a client of its own name. */
  const as = (name: string) => ({ client: controllerClient(api, name, { observer: informers.observer, fence: () => fence }), informers });
  const recorderFor = (name: string, component: string) => {
    const recorder = new Recorder({ world, client: as(name).client, eventKind, component });
    recorders.push(recorder);
    return recorder;
  };
  const tellingsFor = (name: string, component: string) => new Tellings(recorderFor(name, component), clock);
  const run = <Key extends string, Snapshot, Action>(controller: Controller<Key, Snapshot, Action>) =>
    runController(controller, { world, informers, onDeposed: deposed });

  const { attacher, detacher } = attachDetach({
    ...as('attachdetach-controller'),
    clock,
    recorder: recorderFor('attachdetach-controller', 'attachdetach-controller'),
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
  });
  const binder = as('persistent-volume-binder');
  const storage = storageControllers({
    ...binder,
    world,
    drivers,
    recorder: recorderFor('persistent-volume-binder', eventSource),
    ...(bindsTogether ? { bindTogether: (pair) => binder.client.bindTogether(pair) } : {}),
  });
  const loops = [
    run(serviceAccountController({ ...as('service-account-controller'), kinds: serviceAccountKinds, rootCa })),
    run(namespaceController({ ...as('namespace-controller'), clock, namespaceKind, kinds })),
    run(
      garbageCollector({
        ...as('generic-garbage-collector'),
        clock,
        kinds,
        recorder: recorderFor('generic-garbage-collector', 'garbage-collector-controller'),
      }),
    ),
    run(claimProtection({ ...as('pvc-protection-controller'), kinds: storageKinds })),
    run(volumeProtection({ ...as('pv-protection-controller'), kinds: storageKinds })),
    run(attributesClassProtection({ ...as('volumeattributesclass-protection-controller'), kinds: storageKinds })),
    run(quotaController({ ...as('resourcequota-controller'), clock, kinds })),
    run(ephemeralClaims({ ...as('ephemeral-volume-controller'), clock, tellings: tellingsFor('ephemeral-volume-controller', ephemeralEventSource) })),
    run(storage.binder),
    run(storage.provisioner),
    run(storage.reclaimer),
    run(attacher),
    run(detacher),
    run(expander({ ...as('expand-controller'), recorder: recorderFor('expand-controller', 'volume_expand') })),
  ];
  informers.start();
  return [...loops, ...recorders, informers];
}

const storageKinds = { pod: podKind, claim: persistentVolumeClaimKind, volume: persistentVolumeKind, attributesClass: volumeAttributesClassKind };
const serviceAccountKinds = { namespace: namespaceKind, serviceAccount: serviceAccountKind, configMap: configMapKind };
