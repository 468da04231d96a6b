import { eventsEventKind } from '../api/kinds/core/event.ts';
import { leaseKind } from '../api/kinds/coordination/lease.ts';
import { createClient } from '../client/client.ts';
import { type RunningControllers, runLeaderElectedControllers, type Stoppable, type LeaderTerm } from '../client/controller/leader-elected-controllers.ts';
import { Informers } from '../client/informers/informers.ts';
import type { LeaderElectionOptions } from '../client/controller/leader-election.ts';
import { EventSeriesRecorder } from '../client/events/event-series-recorder.ts';
import { defaultPlugins } from '../scheduler/plugins/index.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { volumePlugins } from '../scheduler/plugins/volume-plugins.ts';
import type { World } from '../world/world.ts';
import type { Connect } from './access/identities.ts';

export interface SchedulerOptions {
  /** Connects to the API server in this process or over HTTPS. */
  readonly connect: Connect;
  readonly world: World;
  /** True: a PV and a PVC are bound in one transaction; false: the scheduler sets the PV's claimRef, and the binder does the rest. */
  readonly bindsTogether: boolean;
  readonly election: Pick<LeaderElectionOptions, 'identity' | 'takeOver' | 'timing'>;
  /** Objects per page of a list; absent: everything at once. */
  readonly pageSize?: number;
}

/** The scheduler under its own Lease: of several processes one leads. */
export function startScheduler(options: SchedulerOptions): RunningControllers {
  const { connect, world, election } = options;
  return runLeaderElectedControllers({
    election: {
      ...election,
      world,
      client: createClient({ transport: connect('moor-scheduler') }),
      leaseKind,
      lease: { namespace: 'kube-system', name: 'moor-scheduler' },
    },
    start: (term) => startTerm(options, term),
  });
}

/** The scheduler of one leader term, with new caches: a stale cache could decide against the last leader's writes. */
function startTerm({ connect, world, bindsTogether, election, pageSize }: SchedulerOptions, { fence, deposed }: LeaderTerm): readonly Stoppable[] {
  const informers: Informers = new Informers({
    world,
    client: createClient({ transport: connect('moor-informers') }),
    ...(pageSize === undefined ? {} : { pageSize }),
  });
  const client = createClient({ transport: connect('moor-scheduler'), observer: informers.observer, fence: () => fence });
  const controller = 'default-scheduler';
  const recorder = new EventSeriesRecorder({ world, client, eventKind: eventsEventKind, controller, instance: `${controller}-${election.identity}` });
  const plugins = defaultPlugins(volumePlugins({ bindsTogether }));
  const scheduler = new Scheduler({ world, client, informers, recorder, plugins, onDeposed: deposed });
  informers.start();
  return [scheduler, recorder, informers];
}
