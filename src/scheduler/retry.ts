import type { Result } from '../client/client.ts';
import type { World } from '../world/world.ts';

export const isTransient = (reason: string): boolean => reason === 'unreachable' || reason === 'overloaded' || reason === 'conflict' || reason === 'failed';
const maxAttempts = 5;
const retryMs = 50;

/** Retries transient failures with exponential backoff. Any other failure is returned at once. */
export async function withRetry<T>(attempt: () => Promise<Result<T>>, { timers }: World): Promise<Result<T>> {
  for (let tries = 1; ; tries++) {
    const result = await attempt();
    if (result.ok || tries === maxAttempts || !isTransient(result.reason)) return result;
    await new Promise<void>((resolve) => void timers.after(retryMs * 2 ** tries, resolve));
  }
}
