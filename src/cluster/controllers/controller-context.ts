import type { Client } from '../../client/client.ts';
import type { DefinedKinds } from '../../client/controller/defined-kinds.ts';
import type { Controller, ControllerLoop } from '../../client/controller/loop.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Informers } from '../../client/informers/informers.ts';
import type { FencedDrivers } from '../../drivers/driver-set.ts';
import type { Clock } from '../../world/world.ts';
import type { ControllerName } from '../access/controller-roles.ts';
import type { EventfulController } from './event-sources.ts';

/** What every controller of a leader term is built with. */
export interface ControllerContext {
  readonly as: (name: ControllerName) => { readonly client: Client; readonly informers: Informers; readonly clock: Clock };
  readonly recorderFor: (name: EventfulController) => EventRecorder;
  readonly run: <Key extends string, Snapshot, Action>(controller: Controller<Key, Snapshot, Action>) => ControllerLoop;
  readonly definedKinds: DefinedKinds;
  readonly drivers: FencedDrivers;
}
