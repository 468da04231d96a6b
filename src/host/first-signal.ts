/** Resolves with the first SIGINT or SIGTERM. A second one ends the process at once, by the system's default. */
export function firstSignal({ keepsAlive = true }: { readonly keepsAlive?: boolean } = {}): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // A signal listener does not keep the process alive, and a process that waits for a Lease has no other handle.
    const alive = setInterval(() => undefined, 2 ** 31 - 1);
    if (!keepsAlive) alive.unref();
    const parentEnds = whenShellOfNpmEnds(() => heard('SIGTERM'));
    const heard = (signal: NodeJS.Signals) => {
      clearInterval(alive);
      clearInterval(parentEnds);
      process.removeListener('SIGINT', heard);
      process.removeListener('SIGTERM', heard);
      resolve(signal);
    };
    process.on('SIGINT', heard);
    process.on('SIGTERM', heard);
  });
}

/**
 * `npx moor` and `npm start` run a shell, which runs this program. npm passes SIGTERM on to that shell, which ends without a word to its child: its end stands for
 * the signal.
 */
function whenShellOfNpmEnds(ended: () => void): NodeJS.Timeout | undefined {
  if (process.env['npm_command'] === undefined) return undefined;
  const shell = process.ppid;
  return setInterval(() => {
    if (process.ppid !== shell) ended();
  }, 500).unref();
}
