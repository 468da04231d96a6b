import { ClusterError } from '../why/reading/cluster-reader.ts';
import { readObjects } from '../why/reading/read-objects.ts';
import { createClient } from '../client/client.ts';
import { HttpTransport } from '../client/http-transport.ts';
import { explain } from '../why/explain.ts';
import { render } from '../why/explanation/render.ts';
import { createRealWorld } from '../host/world.ts';
import { terminal } from '../host/terminal.ts';
import { version } from '../cluster/version.ts';
import type { WhyOptions } from './why.ts';

/** Long enough for a large cluster, short enough for somebody who waits. */
const timeoutMs = 30_000;

/** Answers on standard output. Resolves with the exit code. */
export async function runWhy({ target, access, output }: WhyOptions): Promise<number> {
  const world = createRealWorld({ logLevel: 'silent' });
  const transport = new HttpTransport({ access, world, userAgent: `moor/${version} (why)`, timeoutMs });
  try {
    const objects = await readObjects(createClient({ transport }), target);
    const explanation = explain(target, objects, world.clock.now());
    process.stdout.write(output === 'json' ? `${JSON.stringify(explanation, null, 2)}\n` : render(explanation, terminal(100)));
    return explanation.verdict === 'absent' ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    process.stderr.write(`moor why: ${error.message} (${access.url})\n`);
    return 1;
  } finally {
    transport.close();
  }
}
