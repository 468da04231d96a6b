import path from 'node:path';
import { type HttpAccess, HttpTransport } from '../client/http-transport.ts';
import { canSandbox } from '../node/runtimes/sandbox/detect.ts';
import { firstSignal } from '../host/first-signal.ts';
import type { Transport } from '../client/transport.ts';
import { RuntimeStreams } from '../node/streams/pod-streams.ts';
import { NodeReader } from '../node/object-reader/node-reader.ts';
import type { World } from '../world/world.ts';
import { sha256, describeMachine } from '../cluster/nodes/machine.ts';
import { openEndpoint } from '../cluster/nodes/node-endpoint.ts';
import { NodeIdentity } from '../cluster/nodes/node-identity.ts';
import { podCidrFor } from '../cluster/nodes/pod-cidr.ts';
import { secretFiles } from '../host/secret-files.ts';
import { localSandboxRuntime } from '../cluster/sandbox-runtime.ts';
import { createRealWorld, type LogLevel } from '../host/world.ts';
import { nodeDirectory, startLocalNodeAgent } from '../cluster/nodes/sandbox-nodes.ts';
import { version } from '../cluster/version.ts';

export interface NodeProcessOptions {
  readonly access: HttpAccess;
  readonly name: string;
  /** Undefined: the one that it is registered with, or one that nothing else on this machine has. */
  readonly podCidr: string | undefined;
  /** Where containers and volumes are. */
  readonly directory: string;
  readonly logLevel: LogLevel;
  /** Where its endpoint listens; undefined: everywhere, on the kubelet's port if that is free. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
}

/** Is a node until a signal ends it. Resolves with the exit code. */
export async function runNodeProcess({ access, name, podCidr, directory, logLevel, listen }: NodeProcessOptions): Promise<number> {
  const ability = canSandbox();
  if (!ability.can) {
    process.stderr.write(`moor node: pods cannot run here: ${ability.why}\n`);
    return 1;
  }
  const world = createRealWorld({ logLevel });
  const root = await nodeDirectory(directory);
  const ended = firstSignal();
  const over = new AbortController();
  const own = await Promise.race([identityOf({ access, name, root, world, over: over.signal }).catch((error: unknown) => error as Error), ended]);
  if (typeof own === 'string') {
    over.abort();
    return 0;
  }
  if (own instanceof Error) {
    process.stderr.write(`moor node: cannot get a certificate from ${access.url}: ${own.message}\n`);
    return 1;
  }
  const endpoint = await openEndpoint({ access, listen, world }).catch((error: unknown) => error as Error);
  if (endpoint instanceof Error) {
    process.stderr.write(`moor node: cannot listen for the API server: ${endpoint.message}\n`);
    own.close();
    return 1;
  }
  const sandbox = path.join(root, 'sandbox');
  const cidr = podCidr ?? (await podCidrFor({ node: name, root: sandbox, own }));
  const host = await describeMachine({ name, podCidr: cidr, root, endpoint });
  const runtime = localSandboxRuntime(world, { root: sandbox, podCidr: cidr, hidden: [root] });
  const reader = new NodeReader({ transport: own, node: name, world, sha256 });
  const agent = await startLocalNodeAgent({ host, root, runtime }, { world, readTransport: reader, eventTransport: own, nodeTransport: own });
  const stopServing = await endpoint?.serve({
    agent,
    streams: new RuntimeStreams(runtime, agent.pages),
    host,
    own,
    files: secretFiles(path.join(root, 'pki')),
  });
  const isReady = await Promise.race([agent.ready.then(() => true), ended.then(() => false)]);
  if (isReady) {
    process.stdout.write(`Node ${name} is ready: ${access.url}\n\n  data  ${root}\n\nCtrl-C stops it; its containers go on.\n`);
    await ended;
  }
  // What is under way may need an answer from a server that gives none. Whatever is cut off here, the next start goes on with, as after a crash.
  world.timers.after(longestStopMs, () => {
    process.stderr.write(`moor node: what was under way is still not over after ${longestStopMs / 1000} s: the next start goes on with it\n`);
    process.exit(0);
  });
  await stopServing?.();
  await agent.stop();
  reader.close();
  own.close();
  return 0;
}

const longestStopMs = 30_000;

/** By a certificate of its own; a server that asks for no credentials is told none. */
function identityOf({ access, name, root, world, over }: Asking): Promise<Transport & { close(): void }> {
  const userAgent = `moor/${version} (${name})`;
  if (access.url.startsWith('http://')) return Promise.resolve(new HttpTransport({ access, world, userAgent }));
  return NodeIdentity.open({ access, node: name, files: secretFiles(path.join(root, 'pki')), world, userAgent, over });
}

interface Asking extends Pick<NodeProcessOptions, 'access' | 'name'> {
  readonly root: string;
  readonly world: World;
  readonly over: AbortSignal;
}
