import type { Registry } from 'prom-client';

let registry: Promise<Registry> | undefined;

/** What Node knows of its own process: memory, processor time, event loop, garbage. The library is loaded by the first who asks. */
export async function processMetrics(): Promise<string> {
  registry ??= load();
  return (await registry).metrics();
}

async function load(): Promise<Registry> {
  const { collectDefaultMetrics, Registry: Metrics } = await import('prom-client');
  const register = new Metrics();
  collectDefaultMetrics({ register });
  return register;
}
