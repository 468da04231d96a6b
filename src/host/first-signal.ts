/** Resolves with the first SIGINT or SIGTERM. A second one ends the process at once, as the system would. */
export function firstSignal({ keepsAlive = true }: { readonly keepsAlive?: boolean } = {}): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // Listening for signals keeps no process alive, and one that only waits for a lease has nothing else that does.
    const alive = setInterval(() => undefined, 2 ** 31 - 1);
    if (!keepsAlive) alive.unref();
    const heard = (signal: NodeJS.Signals) => {
      clearInterval(alive);
      process.removeListener('SIGINT', heard);
      process.removeListener('SIGTERM', heard);
      resolve(signal);
    };
    process.on('SIGINT', heard);
    process.on('SIGTERM', heard);
  });
}
