/** About the machines of real node agents: their mounts and containers, not what the agent reports of them. */
import type { Pod } from '../../api/generated/types.ts';
import { nodeRoot } from '../host/simulated-machine.ts';
import { isLive } from './attaching.ts';
import type { Facts } from './facts.ts';
import type { Invariant } from './invariant.ts';

const podOf = (facts: Facts, uid: string): Pod | undefined => Array.from(facts.pods.values()).find(({ metadata }) => metadata.uid === uid);

export const journalFirst: Invariant = {
  name: 'a volume is in the journal before it is mounted',
  check: (change) =>
    change.type === 'machine' && change.event.do === 'mount' && change.event.target.startsWith(`${nodeRoot}/`) && !change.event.journaled
      ? `${change.event.target} was mounted on ${change.node}, and its journal does not have it`
      : undefined,
};

export const runsWithItsDisks: Invariant = {
  name: 'a container starts only with all volumes of its pod mounted, and of the right disks',
  check: (change, facts) => {
    if (change.type !== 'machine' || change.event.do !== 'start') return undefined;
    const { podUid, disks } = change.event;
    const pod = podOf(facts, podUid);
    // Deleted by force: what its claims were is not known any more.
    if (pod === undefined) return undefined;
    const wrong = facts.disksOf(pod).find(({ handle, claim }) => {
      const { name } = pod.spec.volumes?.find(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim.metadata.name) ?? { name: '' };
      return disks.get(name) !== handle;
    });
    return wrong === undefined ? undefined : `a container of pod ${pod.metadata.name} starts on ${change.node} without its disk ${wrong.handle}`;
  },
};

export const notUnderRunningPod: Invariant = {
  name: 'nothing is unmounted that a running container sees',
  check: (change) =>
    change.type === 'machine' && change.event.do === 'unmount' && change.event.users.length > 0
      ? `${change.event.target} was unmounted on ${change.node}, where a container of pod ${change.event.users[0]} sees it`
      : undefined,
};

export const unmountedBeforeDetach: Invariant = {
  name: 'a disk is detached only when the node has it unmounted',
  check: (change, facts, now) =>
    change.type === 'unplugged' && change.mounted && isLive(facts, change.node, now)
      ? `disk ${change.handle} was detached from ${change.node}, which has it mounted`
      : undefined,
};

/** What is still mounted at the end for a pod that is gone. */
export function leftMounted(facts: Facts, node: string, targets: readonly string[]): string | undefined {
  const stays = targets.find((target) => {
    const [, uid] = /\/pods\/([^/]+)\//.exec(target) ?? [];
    return uid !== undefined && podOf(facts, uid) === undefined;
  });
  return stays === undefined ? undefined : `${stays} is still mounted on ${node}, and its pod is gone`;
}
