import { rbacGroup } from '../../../api/kinds/rbac/policy-rules.ts';
import type { Entry, Store } from '../../../store/contract.ts';
import type { World } from '../../../world/world.ts';
import { PrefixFollower } from '../../objects/follow-prefix.ts';
import { RbacAuthorizer } from './authorizer.ts';
import type { RbacObject } from './rbac-policy.ts';

const PREFIX = `/registry/${rbacGroup}/`;

export interface FollowedRbac {
  readonly authorizer: RbacAuthorizer;
  stop(): void;
}

/** Decisions by the roles in a store: read once, then kept up with every change, in the order of the changes. */
export async function followRbac(store: Store, { timers }: Pick<World, 'timers'>): Promise<FollowedRbac> {
  const authorizer = new RbacAuthorizer();
  const follower = new PrefixFollower({
    store,
    timers,
    prefix: PREFIX,
    changes: (changes) => {
      for (const { entry, previous } of changes) {
        if (entry !== undefined) authorizer.put(objectOf(entry));
        else if (previous !== undefined) authorizer.remove(objectOf(previous));
      }
    },
  });
  await follower.start();
  return { authorizer, stop: () => follower.stop() };
}

/** The bytes, not what others made of them: roles are few, and change seldom. */
const objectOf = ({ value }: Entry): RbacObject => JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()) as RbacObject;
