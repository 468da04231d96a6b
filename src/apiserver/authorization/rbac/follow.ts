import { rbacGroup } from '../../../api/kinds/rbac/policy-rules.ts';
import { type Entry, prefixEnd, type Store } from '../../../store/contract.ts';
import { RbacAuthorizer } from './authorizer.ts';
import type { RbacObject } from './rbac-policy.ts';

const PREFIX = `/registry/${rbacGroup}/`;

export interface FollowedRbac {
  readonly authorizer: RbacAuthorizer;
  stop(): void;
}

/** Decisions by the roles in a store: read once, then kept up with every change, in the order of the changes. */
export async function followRbac(store: Store): Promise<FollowedRbac> {
  const authorizer = new RbacAuthorizer();
  const { entries, revision } = await store.range({ from: PREFIX, to: prefixEnd(PREFIX) });
  for (const entry of entries) authorizer.put(objectOf(entry));
  const watch = store.watch(
    { prefix: PREFIX, after: revision },
    {
      changes: (_, changes) => {
        for (const { entry, previous } of changes) {
          if (entry !== undefined) authorizer.put(objectOf(entry));
          else if (previous !== undefined) authorizer.remove(objectOf(previous));
        }
      },
      // Only a store that is closed ends a watch that began at its newest revision: no request is authorised after that.
      end: () => {},
    },
  );
  return { authorizer, stop: () => watch.stop() };
}

/** The bytes, not what others made of them: roles are few, and change seldom. */
const objectOf = ({ value }: Entry): RbacObject => JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()) as RbacObject;
