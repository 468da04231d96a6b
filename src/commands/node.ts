import { hostname } from 'node:os';
import path from 'node:path';
import { dnsSubdomainProblems } from '../api/validation/names.ts';
import { type HttpAccess, HttpTransport } from '../client/http-transport.ts';
import type { Transport } from '../client/transport.ts';
import { startLocalNodeAgent } from '../cluster/nodes/local-node-agent.ts';
import { nodeDirectoryOf } from '../cluster/life-cycle/cluster-record.ts';
import { describeMachine } from '../cluster/nodes/machine.ts';
import type { SecuritySettings } from '../cluster/nodes/machine-security.ts';
import { nodeDirectory } from '../cluster/nodes/node-directory.ts';
import { openEndpoint } from '../cluster/nodes/node-endpoint.ts';
import { NodeIdentity } from '../cluster/nodes/node-identity.ts';
import { podCidrFor } from '../cluster/nodes/pod-cidr.ts';
import { localSandboxRuntime } from '../cluster/sandbox-runtime.ts';
import { sha256 } from '../cluster/sha256.ts';
import { version } from '../cluster/version.ts';
import { firstSignal } from '../host/first-signal.ts';
import { secretFiles } from '../host/secret-files.ts';
import { createRealWorld, type LogLevel } from '../host/world.ts';
import { NodeReader } from '../node/object-reader/node-reader.ts';
import { canSandbox } from '../node/runtimes/sandbox/detect.ts';
import { RuntimeStreams } from '../node/streams/pod-streams.ts';
import type { World } from '../world/world.ts';
import { accessFlags, accessOf } from './cluster-access.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { privatePath } from './private-path.ts';
import { securityFlags, securityOptions } from './security-flags.ts';
import { logLevelFlag, logLevelOf, parseListen } from './shared-flags.ts';
import { damagedExitCode, explainStartFailure, isDamage } from './start-failure.ts';

/** `moor node`: this machine as a node of a cluster elsewhere. */
export const nodeCommand: Command = {
  about: `Registers this machine as a node and runs the pods that are scheduled to it as processes in their own namespaces, with
their volumes really mounted. Needs Linux and root. When this process ends, containers keep running and volumes stay
mounted; the next start finds them.

The kubeconfig names the API server and is used for one request: the node's own certificate (a CertificateSigningRequest).
"moor up --bootstrap-kubeconfig FILE" writes one that has no other rights. The key never leaves this machine; the certificate
is kept beside it (DIR/pki, readable by root only) and renewed before it expires. From then on this process acts as
system:node:NAME, with the rights of a node. With --server it acts as the user that the server takes it for.

It serves the kubelet's HTTPS API for the API server: "kubectl logs", exec, attach, cp and port-forward. The serving
certificate comes from the cluster as well. Other clients are authenticated and authorized by the API server.

The exit code is 3 if the journal of mounts or a key of the node is damaged (docs/DATA-DIRECTORY.md).`,
  flags: [
    ...accessFlags,
    { name: 'name', value: 'NAME', about: 'the name of the node', default: "the machine's name" },
    { name: 'data-dir', value: 'DIR', about: 'the directory of containers and volumes', default: nodeDirectoryOf('NAME', '~') },
    {
      name: 'listen',
      value: 'HOST:PORT',
      about: 'where it listens for the API server; port 0 picks a free one, and a HOST that is an IP address becomes the InternalIP of the node',
      default: '0.0.0.0:10250, or a free port if that is taken',
    },
    { name: 'pod-cidr', value: 'CIDR', about: 'the IP addresses of its pods', default: 'a block that is free on this machine' },
    ...securityFlags,
    logLevelFlag,
  ],
  examples: [
    {
      line: 'moor node --kubeconfig ./bootstrap --name node-a',
      about: 'one more node for the cluster that wrote ./bootstrap (moor up --bootstrap-kubeconfig)',
    },
  ],
  // A node that does not start leaves a socket, timers and the wait for a signal: they must not keep the process.
  run: async (flags) => process.exit(await runUndamaged(nodeProcessOptions(flags))),
};

interface NodeProcessOptions {
  readonly access: HttpAccess;
  readonly name: string;
  /** Undefined: the CIDR that the node is registered with, or one that is free on this machine. */
  readonly podCidr: string | undefined;
  /** Of containers and volumes. */
  readonly directory: string;
  readonly logLevel: LogLevel;
  readonly security: SecuritySettings;
  /** Undefined: every address, on the kubelet's port if that is free. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
}

function nodeProcessOptions(flags: FlagValues): NodeProcessOptions {
  const name = (flags.text('name') ?? hostname()).toLowerCase();
  const [problem] = dnsSubdomainProblems(name);
  if (problem !== undefined) throw new UsageError(`"${name}" is not a valid node name: ${problem}`);
  const podCidr = flags.text('pod-cidr');
  if (podCidr !== undefined && !/^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/.test(podCidr))
    throw new UsageError(`--pod-cidr must be an IPv4 CIDR, such as 10.244.0.0/24, not "${podCidr}"`);
  const listen = flags.text('listen');
  return {
    access: accessOf(flags),
    name,
    podCidr,
    listen: listen === undefined ? undefined : parseListen(listen),
    directory: privatePath('data-dir', flags.text('data-dir') ?? nodeDirectoryOf(name)),
    security: securityOptions(flags),
    logLevel: logLevelOf(flags),
  };
}

/** Damaged files of the node are refused in one line. */
async function runUndamaged(options: NodeProcessOptions): Promise<number> {
  try {
    return await runNode(options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    process.stderr.write(`moor node: ${explainStartFailure(error, { dataDir: options.directory })}\n`);
    return damagedExitCode;
  }
}

/** Runs a node until a signal ends it. Resolves with the exit code. */
async function runNode({ access, name, podCidr, directory, logLevel, listen, security }: NodeProcessOptions): Promise<number> {
  const ability = canSandbox();
  if (!ability.can) {
    process.stderr.write(`moor node: pods cannot run here: ${ability.why}\n`);
    return 1;
  }
  const world = createRealWorld({ logLevel });
  const root = await nodeDirectory(directory);
  const ended = firstSignal();
  const abort = new AbortController();
  const own = await Promise.race([identityOf({ access, name, root, world, signal: abort.signal }).catch((error: unknown) => error as Error), ended]);
  if (typeof own === 'string') {
    abort.abort();
    return 0;
  }
  if (own instanceof Error) {
    if (isDamage(own)) throw own;
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
  const host = await describeMachine({ name, podCidr: cidr, root, security, endpoint });
  const runtime = localSandboxRuntime(world, { root: sandbox, podCidr: cidr });
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
    process.stdout.write(`Node ${name} is ready: ${access.url}\n\n  data  ${root}\n\nCtrl-C stops this process; its containers keep running.\n`);
    await ended;
  }
  // An action may wait for an API server that does not answer. The next start continues with it, as after a crash.
  world.timers.after(longestStopMs, () => {
    process.stderr.write(`moor node: actions have not finished after ${longestStopMs / 1000} s: the next start continues with them\n`);
    process.exit(0);
  });
  await stopServing?.();
  await agent.stop();
  reader.close();
  own.close();
  return 0;
}

const longestStopMs = 30_000;

interface IdentityRequest extends Pick<NodeProcessOptions, 'access' | 'name'> {
  readonly root: string;
  readonly world: World;
  readonly signal: AbortSignal;
}

/** With the node's own certificate; a server over plain HTTP gets no credentials. */
function identityOf({ access, name, root, world, signal }: IdentityRequest): Promise<Transport & { close(): void }> {
  const userAgent = `moor/${version} (${name})`;
  if (access.url.startsWith('http://')) return Promise.resolve(new HttpTransport({ access, world, userAgent }));
  return NodeIdentity.open({ access, node: name, files: secretFiles(path.join(root, 'pki')), world, userAgent, signal });
}
