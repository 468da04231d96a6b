import { setTimeout as sleep } from 'node:timers/promises';
import { resourceRequestInfo } from '../../api/request-info.ts';
import { nodeKind } from '../../api/kinds/core/node.ts';
import { createClient } from '../../client/client.ts';
import { type HttpAccess, HttpTransport } from '../../client/http-transport.ts';
import { version } from '../../cluster/version.ts';
import { type StorageSummary, summaryOf } from '../../dashboard/model/summary.ts';
import { type StatsSummary, usageIn, type VolumeUsage } from '../../dashboard/model/usage.ts';
import { topScreen } from '../../dashboard/terminal/top-screen.ts';
import { terminal } from '../../host/terminal.ts';
import { createRealWorld } from '../../host/world.ts';
import type { ClusterObjects } from '../../why/graph/cluster-objects.ts';
import { ClusterError } from '../../why/reading/cluster-reader.ts';
import { readEverything } from '../../why/reading/read-objects.ts';
import { accessFlags, accessOf } from '../cluster-access.ts';
import { type Command, UsageError } from '../command.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { jsonText, type Output, outputFlag, outputOf } from '../result/output.ts';
import { TopTerminal } from './top-terminal.ts';

/** `moor top`: the claims of a cluster in the terminal, how full they are, and what is stuck. */
export const topCommand: Command = {
  about: `Shows the claims of a cluster, the stuck ones first: phase, how full, class, node, and why it waits, in the words of "moor why"; the
nodes with the fewest attach slots; how many objects are stuck. It only reads, and works on Mooring and on any Kubernetes
cluster. How full a volume is comes from the kubelets' /stats/summary, for users who may ask for it (nodes/proxy).

On a terminal it goes on until q; the arrow keys, Page Up and Page Down scroll. Elsewhere it prints plain lines once.`,
  flags: [
    { name: 'namespace', short: 'n', value: 'NAMESPACE', about: 'only the claims in it', default: 'all' },
    { name: 'once', about: 'print once, on a terminal too' },
    ...accessFlags,
    outputFlag,
  ],
  examples: [
    { line: 'moor top', about: 'until q' },
    { line: 'moor top -n shop --once', about: 'the claims of one namespace' },
    { line: 'moor top --once -o json | jq \'.claims[] | select(.verdict == "stuck") | .key\'', about: 'the claims that are stuck' },
  ],
  run: async (flags) => {
    const output = outputOf(flags);
    if (output === 'json' && process.stdout.isTTY && !flags.on('once')) throw new UsageError('-o json prints one answer: add --once');
    const isLive = process.stdout.isTTY && process.stdin.isTTY && !flags.on('once');
    return runTop({ access: accessOf(flags), namespace: flags.text('namespace'), output, isLive });
  },
};

interface TopOptions {
  readonly access: HttpAccess;
  readonly namespace: string | undefined;
  readonly output: Output;
  readonly isLive: boolean;
}

async function runTop({ access, namespace, output, isLive }: TopOptions): Promise<ExitCode> {
  const world = createRealWorld({ logLevel: 'silent' });
  const transport = new HttpTransport({ access, world, userAgent: `moor/${version} (top)`, timeoutMs: 30_000 });
  const client = createClient({ transport });
  const read = async (): Promise<StorageSummary> => {
    const objects = await readEverything({ client }, namespace);
    return summaryOf(objects, await readUsage(transport, objects), world.clock.now());
  };
  const screen = (summary: StorageSummary) => topScreen(summary, { ...terminal(160), now: world.clock.now() });
  try {
    const first = await read();
    if (isLive) await follow(first, read, screen);
    else process.stdout.write(output === 'json' ? jsonText(first) : textOf(screen(first)));
    return exitCodes.success;
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    process.stderr.write(`moor top: ${error.message} (${access.url})\n`);
    return exitCodes.failure;
  } finally {
    transport.close();
  }
}

const textOf = ({ head, rows }: ReturnType<typeof topScreen>): string => [...head, ...rows].map((line) => `${line}\n`).join('');

const everyMs = 2000;

/** Until q or Ctrl-C. A cluster that does not answer for a while is asked again. */
async function follow(
  first: StorageSummary,
  read: () => Promise<StorageSummary>,
  screen: (summary: StorageSummary) => ReturnType<typeof topScreen>,
): Promise<void> {
  const shown = new TopTerminal(process.stdin, process.stdout);
  try {
    for (let summary = first; !shown.closed; ) {
      shown.show(screen(summary));
      await Promise.race([sleep(everyMs), shown.onceClosed]);
      if (shown.closed) return;
      summary = await read().catch((error: unknown) => {
        if (error instanceof ClusterError) return summary;
        throw error;
      });
    }
  } finally {
    shown.leave();
  }
}

/** A figure beside each claim is not worth a request to each of a thousand nodes. */
const mostNodes = 50;

/** Of the nodes whose pods have claims; those that do not say are left out. */
async function readUsage(transport: HttpTransport, { pods = [] }: ClusterObjects): Promise<ReadonlyMap<string, VolumeUsage>> {
  const using = pods.filter(({ spec }) => (spec.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral));
  const nodes = [...new Set(using.flatMap(({ spec }) => spec.nodeName ?? []))].slice(0, mostNodes);
  const summaries = await Promise.all(
    nodes.map(async (name) => {
      const info = resourceRequestInfo('get', nodeKind, { name, subresource: 'proxy' });
      const text = await transport.readText({ info: { ...info, subpath: '/stats/summary' } as typeof info, query: new URLSearchParams() });
      return usageIn(text === undefined ? {} : (JSON.parse(text) as StatsSummary));
    }),
  );
  return new Map(summaries.flatMap((each) => [...each]));
}
