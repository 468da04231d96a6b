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
  /** In the server's process, or over HTTPS: the scheduler does not know. */
  readonly connect: Connect;
  readonly world: World;
  /** Volume and claim are bound in one transaction; else the volume is pointed at the claim, and the binder does the rest. */
  readonly bindsTogether: boolean;
  readonly election: Pick<LeaderElectionOptions, 'identity' | 'takeOver' | 'timing'>;
  /** Objects per page of a list; absent: everything at once. */
  readonly pageSize?: number;
}

/** The scheduler, under a lease of its own: as many processes as one likes, of which one decides. */
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

/** The scheduler of one term of office: new caches, so that nothing old is believed. */
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
