import type { Context } from './context.ts';
import { CloudError } from './errors.ts';
import type { Change } from './records.ts';

/** How long a token is remembered; EC2's own time is of this order and differs by action. */
const rememberedMs = 12 * 60 * 60 * 1000;

export interface TokenRequest {
  readonly action: string;
  readonly clientToken: string | undefined;
  readonly parameters: unknown;
}

/** What an earlier request with the same token made; undefined: it is the first. @throws CloudError if its parameters were others */
export function madeBefore({ action, clientToken, parameters }: TokenRequest, { state, now }: Context): readonly string[] | undefined {
  if (clientToken === undefined) return undefined;
  const use = state.tokens.get(`${action} ${clientToken}`);
  if (use === undefined || use.at + rememberedMs < now) return undefined;
  if (use.parameters !== JSON.stringify(parameters)) {
    throw new CloudError(
      'IdempotentParameterMismatch',
      'The client token you have provided is associated with a resource with different parameters. Please use a different client token.',
    );
  }
  return use.resources;
}

/** Remembers the token, and forgets those that are too old. */
export function tokenChanges({ action, clientToken, parameters }: TokenRequest, resources: readonly string[], { state, now }: Context): readonly Change[] {
  if (clientToken === undefined) return [];
  const changes: Change[] = [];
  for (const use of state.tokens.values()) {
    // In the order in which they were used.
    if (use.at + rememberedMs >= now) break;
    changes.push({ in: 'tokens', id: use.id, record: undefined });
  }
  const id = `${action} ${clientToken}`;
  return [...changes, { in: 'tokens', id, record: { id, at: now, parameters: JSON.stringify(parameters), resources } }];
}
