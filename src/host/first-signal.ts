/** Resolves with the first SIGINT or SIGTERM. A second one ends the process at once, by the system's default. */
export function firstSignal({ keepsAlive = true }: { readonly keepsAlive?: boolean } = {}): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // A signal listener does not keep the process alive, and a process that waits for a Lease has no other handle.
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
