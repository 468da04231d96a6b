import type { Result } from '../machinery/client.ts';
import type { World } from '../world/world.ts';

const isPassing = (reason: string): boolean => reason === 'unreachable' || reason === 'overloaded' || reason === 'conflict' || reason === 'failed';
const mostTries = 5;
const retryMs = 50;

/** Asks, and asks again if the server did not hear. What is refused is refused. */
export async function patiently<T>(attempt: () => Promise<Result<T>>, { timers }: World): Promise<Result<T>> {
  for (let tries = 1; ; tries++) {
    const result = await attempt();
    if (result.ok || tries === mostTries || !isPassing(result.reason)) return result;
    await new Promise<void>((resolve) => void timers.after(retryMs * 2 ** tries, resolve));
  }
}
