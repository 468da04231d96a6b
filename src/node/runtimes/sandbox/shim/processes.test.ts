import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { descendantsOf, signal } from './processes.ts';

test('the processes below one are found, parents first', async () => {
  const nest = '$| = 1; for (1..30) { my $child = fork; if ($child) { waitpid $child, 0; exit } } print "all"; sleep 1000';
  const child = spawn('perl', ['-e', nest], { stdio: ['ignore', 'pipe', 'ignore'] });
  const pid = child.pid ?? 0;
  try {
    await once(child.stdout, 'data');
    const all = descendantsOf(pid);
    expect(all).toHaveLength(31);
    expect(all[0]).toBe(pid);
    expect(descendantsOf(pid, 3)).toEqual(all.slice(0, 3));
  } finally {
    for (const each of descendantsOf(pid).toReversed()) signal(each, 'SIGKILL');
  }
});
