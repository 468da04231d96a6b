import type { CloudProvider } from '../../autoscaler/cloud-provider.ts';
import { ClusterState } from '../../autoscaler/cluster-state.ts';
import { nodeClaimLifecycle } from '../../autoscaler/lifecycle/controller.ts';
import { provisioner } from '../../autoscaler/provisioning/controller.ts';
import { instanceGarbageCollection } from '../../autoscaler/garbage-collection/controller.ts';
import { nodeClaimMarking } from '../../autoscaler/marking/controller.ts';
import { nodeDisruption } from '../../autoscaler/disruption/controller.ts';
import { nodePoolStatus } from '../../autoscaler/pool-status/controller.ts';
import { nodeTermination } from '../../autoscaler/termination/controller.ts';
import type { ControllerLoop } from '../../client/controller/loop.ts';
import { RecordedEvents } from '../../client/events/event-dedup.ts';
import type { World } from '../../world/world.ts';
import { sha256 } from '../sha256.ts';
import type { ControllerContext } from './controller-context.ts';

/** The autoscaler: it acts once there is a NodePool. */
export function autoscalerLoops(provider: CloudProvider, { as, recorderFor, run }: ControllerContext, world: World): readonly ControllerLoop[] {
  const { client, informers, clock } = as('karpenter');
  const events = new RecordedEvents(recorderFor('karpenter'), world.clock);
  const state = new ClusterState({ informers, provider });
  return [
    run(provisioner({ state, client, events, clock, sha256 })),
    run(nodeClaimLifecycle({ state, client, events, clock })),
    run(nodeTermination({ state, informers, client, events, clock })),
    run(nodeClaimMarking({ state, client, clock, sha256 })),
    run(nodePoolStatus({ state, client })),
    run(nodeDisruption({ state, informers, client, events, clock, sha256 })),
    run(instanceGarbageCollection({ state, client, clock })),
  ];
}
