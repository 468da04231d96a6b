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
import { attributesClassProtection, claimProtection, volumeProtection } from '../controllers/protection/controller.ts';
import { type RunningControllers, runLedControllers, type Term } from '../machinery/controllers.ts';
import { Informers } from '../machinery/informers.ts';
import { type Loop, runController } from '../machinery/loop.ts';
import { Recorder } from '../machinery/recorder.ts';
import type { Api } from '../server/api.ts';
import { garbageCollector } from '../workloads/garbage-collector/controller.ts';
import { namespaceController } from '../workloads/namespace/controller.ts';
import { serviceAccountController } from '../workloads/service-account/controller.ts';
import type { World } from '../world/world.ts';
import { controllerClient } from './identities.ts';

export interface ControllersOptions {
  readonly api: Api;
  readonly world: World;
  readonly kinds: readonly Kind[];
  /** PEM. */
  readonly rootCa: string;
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
function startTerm({ api, world, kinds, rootCa }: ControllersOptions, { fence, deposed }: Term): readonly Loop[] {
  const informers = new Informers({ world, client: controllerClient(api, 'moor-informers', {}) });
  const clientOf = (name: string) => controllerClient(api, name, { observer: informers.observer, fence: () => fence });
  const { clock } = world;
  const recorder = new Recorder({ world, client: clientOf('generic-garbage-collector'), eventKind, component: 'garbage-collector-controller' });
  const loop = { world, informers, onDeposed: deposed };
  const loops = [
    runController(serviceAccountController({ client: clientOf('service-account-controller'), informers, kinds: serviceAccountKinds, rootCa }), loop),
    runController(namespaceController({ clock, client: clientOf('namespace-controller'), informers, namespaceKind, kinds }), loop),
    runController(garbageCollector({ clock, client: clientOf('generic-garbage-collector'), kinds, recorder }), loop),
    runController(claimProtection({ client: clientOf('pvc-protection-controller'), informers, kinds: storageKinds }), loop),
    runController(volumeProtection({ client: clientOf('pv-protection-controller'), informers, kinds: storageKinds }), loop),
    runController(attributesClassProtection({ client: clientOf('volumeattributesclass-protection-controller'), informers, kinds: storageKinds }), loop),
  ];
  informers.start();
  return loops;
}

const storageKinds = { pod: podKind, claim: persistentVolumeClaimKind, volume: persistentVolumeKind, attributesClass: volumeAttributesClassKind };
const serviceAccountKinds = { namespace: namespaceKind, serviceAccount: serviceAccountKind, configMap: configMapKind };
