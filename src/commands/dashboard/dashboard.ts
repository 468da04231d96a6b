import { spawn } from 'node:child_process';
import type { RequestInfo } from '../../api/request-info.ts';
import { type HttpAccess, HttpTransport } from '../../client/http-transport.ts';
import { version } from '../../cluster/version.ts';
import { createRealWorld } from '../../host/world.ts';
import { accessFlags, accessOf } from '../cluster-access.ts';
import type { Command } from '../command.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { type Output, outputFlag, outputOf, printData } from '../result/output.ts';
import { serveLocally } from './local-dashboard.ts';
import { pageAddress } from './page-address.ts';

/** `moor dashboard`: opens the page of a cluster in the browser, with the rights of the kubeconfig's user. */
export const dashboardCommand: Command = {
  about: `Opens the dashboard in a browser: claims with the reason why they wait, the chain from pod to disk, nodes with their attach
headroom, snapshots, orphans. It shows what the user of the kubeconfig may read, and does what that user may do.

A server of Mooring serves the page itself, at /ui/: the command asks it for a code that opens one session within a minute,
and ends. For any other Kubernetes cluster, or with --local, the command serves the page on this machine until Ctrl-C, and
passes requests on with the kubeconfig's credentials: reads only, unless --allow-writes is given.

The certificate is signed by an authority that browsers do not know: they ask once whether to go on.`,
  flags: [
    ...accessFlags,
    { name: 'local', about: 'serve the page on this machine, also for a server that serves it itself' },
    { name: 'port', value: 'PORT', about: 'of the page on this machine', default: 'a free one' },
    { name: 'allow-writes', about: 'with --local, or another cluster: pass on writes as well' },
    { name: 'open', about: '=false: print the address only', default: 'true on a terminal' },
    { ...outputFlag, about: 'text, or json for programs: the address' },
  ],
  examples: [
    { line: 'moor dashboard', about: 'the cluster of the kubeconfig, in the browser' },
    { line: 'moor dashboard --kubeconfig prod.kubeconfig', about: 'any other cluster, read-only' },
    { line: 'moor dashboard --open=false', about: 'the address, for a browser elsewhere' },
  ],
  run: async (flags) => {
    const access = accessOf(flags);
    const opens = flags.text('open') === undefined ? process.stdout.isTTY : flags.on('open');
    const show = (url: string) => showAddress(url, { opens, output: outputOf(flags) });
    const asked = flags.on('local') ? undefined : await askForCode(access);
    if (asked !== undefined && 'problem' in asked) {
      process.stderr.write(`moor dashboard: ${asked.problem} (${access.url})\n`);
      return exitCodes.failure;
    }
    if (asked !== undefined) {
      show(pageAddress(access.url, asked.code, access.namespace));
      return exitCodes.success;
    }
    return serveLocally({ access, port: Number(flags.text('port') ?? 0), allowWrites: flags.on('allow-writes'), show });
  },
};

/** Undefined: the server serves no dashboard. */
async function askForCode(access: HttpAccess): Promise<{ readonly code: string } | { readonly problem: string } | undefined> {
  const world = createRealWorld({ logLevel: 'silent' });
  const transport = new HttpTransport({ access, world, userAgent: `moor/${version} (dashboard)`, timeoutMs: 10_000 });
  try {
    const info: RequestInfo = { type: 'path', verb: 'create', path: '/ui/code' };
    const answer = await transport.send({ info, query: new URLSearchParams(), body: { contentType: 'application/json', object: {} } });
    if (answer.type === 'object') return { code: (answer.object as unknown as { readonly code: string }).code };
    if (answer.type === 'failed' && answer.error.code !== 401) return undefined;
    return { problem: answer.type === 'failed' || answer.type === 'unreachable' ? answer.error.message : 'an unexpected answer' };
  } finally {
    transport.close();
  }
}

function showAddress(url: string, { opens, output }: { readonly opens: boolean; readonly output: Output }): ExitCode {
  printData(output, { url }, () => `The dashboard, for one browser within a minute:\n  ${url}\n`);
  if (opens)
    spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true })
      .on('error', () => undefined)
      .unref();
  return exitCodes.success;
}
