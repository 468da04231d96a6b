import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { dnsSubdomainProblems } from '../api/validation/names.ts';
import { type HttpAccess, HttpTransport } from '../client/http-transport.ts';
import type { Transport } from '../client/transport.ts';
import { hasRunningPods, startLocalNodeAgent } from '../cluster/nodes/local-node-agent.ts';
import { lockCluster } from '../cluster/life-cycle/cluster-lock.ts';
import { removedText, tearDownNode, TearDownError } from '../cluster/life-cycle/tear-down.ts';
import { nodeDirectoryOf } from '../cluster/life-cycle/cluster-record.ts';
import { imageDirectory, nodeImageVolumes } from '../cluster/nodes/image-volumes.ts';
import { withImageRequests } from '../cluster/nodes/joined-node-images.ts';
import { describeMachine } from '../cluster/nodes/machine.ts';
import type { SecuritySettings } from '../cluster/nodes/machine-security.ts';
import { nodeDirectory, releaseRoot, separateRoot } from '../cluster/nodes/node-directory.ts';
import { openEndpoint } from '../cluster/nodes/node-endpoint.ts';
import { NodeIdentity } from '../cluster/nodes/node-identity.ts';
import { podCidrFor } from '../cluster/nodes/pod-cidr.ts';
import { startPodNetwork } from '../cluster/nodes/pod-network.ts';
import { type ImageSettings, openImageManager } from '../cluster/image-content.ts';
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
import { accessFlags, accessToServers, serversFlag } from './cluster-access.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { privatePath, rootDirOf } from './private-path.ts';
import { imageFlags, imageOptions } from './images/image-flags.ts';
import { securityFlags, securityOptions } from './security-flags.ts';
import { logLevelFlag, logLevelOf, parseListen } from './shared-flags.ts';
import { explainStartFailure, isDamage } from './start-failure.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';
import { outputFlag, outputOf, printData } from './result/output.ts';
import { withProgress } from './result/progress.ts';

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
certificate comes from the cluster as well. Other clients are authenticated and authorized by the API server.`,
  flags: [
    ...accessFlags,
    serversFlag,
    { name: 'name', value: 'NAME', about: 'the name of the node', default: "the machine's name" },
    { name: 'data-dir', value: 'DIR', about: 'the directory of containers and volumes', default: nodeDirectoryOf('NAME', '~') },
    {
      name: 'root-dir',
      value: 'DIR',
      about: 'the directory of volumes and CSI plugins, laid out as /var/lib/kubelet; containers see it there',
      default: 'the data directory',
    },
    {
      name: 'listen',
      value: 'HOST:PORT',
      about: 'where it listens for the API server; port 0 picks a free one, and a HOST that is an IP address becomes the InternalIP of the node',
      default: '0.0.0.0:10250, or a free port if that is taken',
    },
    { name: 'pod-cidr', value: 'CIDR', about: 'the IP addresses of its pods', default: 'a block that is free on this machine' },
    { name: 'down', about: 'end what an earlier process left on this machine (pods, mounts, loop devices, network) and exit; data is kept' },
    { ...outputFlag, about: 'text, or json for programs: with --down' },
    ...imageFlags,
    ...securityFlags,
    logLevelFlag,
  ],
  examples: [
    {
      line: 'moor node --kubeconfig ./bootstrap --name node-a',
      about: 'one more node for the cluster that wrote ./bootstrap (moor up --bootstrap-kubeconfig)',
    },
    { line: 'moor node --name node-a --down', about: 'nothing of it runs afterwards; "kubectl delete node node-a" removes it from the cluster' },
  ],
  // A node that does not start leaves a socket, timers and the wait for a signal: they must not keep the process.
  run: async (flags) => process.exit(flags.on('down') ? await takeNodeDown(flags) : await runUndamaged(nodeProcessOptions(flags))),
};

interface NodeProcessOptions {
  readonly access: HttpAccess;
  readonly name: string;
  /** Undefined: the CIDR that the node is registered with, or one that is free on this machine. */
  readonly podCidr: string | undefined;
  /** Of containers and volumes. */
  readonly directory: string;
  /** Of volumes and plugins; undefined: `directory`. */
  readonly rootDir: string | undefined;
  readonly logLevel: LogLevel;
  readonly security: SecuritySettings;
  readonly imageSettings: ImageSettings;
  /** Undefined: every address, on the kubelet's port if that is free. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
}

function nodeNameOf(flags: FlagValues): string {
  const name = (flags.text('name') ?? hostname()).toLowerCase();
  const [problem] = dnsSubdomainProblems(name);
  if (problem !== undefined) throw new UsageError(`"${name}" is not a valid node name: ${problem}`);
  return name;
}

const directoryOf = (flags: FlagValues, name: string): string => privatePath('data-dir', flags.text('data-dir') ?? nodeDirectoryOf(name));

/** Resolves with the exit code. */
async function takeNodeDown(flags: FlagValues): Promise<ExitCode> {
  const name = nodeNameOf(flags);
  const directory = directoryOf(flags, name);
  if (!existsSync(directory)) {
    process.stderr.write(`moor node: there is no ${directory}: no node of this name ran here\n`);
    return exitCodes.failure;
  }
  const lock = await lockCluster(directory);
  if (lock === undefined) {
    process.stderr.write(`moor node: a process runs this node with ${directory}: end it first\n`);
    return exitCodes.failure;
  }
  try {
    const world = createRealWorld({ logLevel: 'error' });
    const removed = await withProgress('Looking for what runs', ({ say }) => tearDownNode(directory, { world, onProgress: say }));
    printData(
      outputOf(flags),
      { name: flags.text('name') ?? null, dataDir: directory, removed },
      () => `Down: ${removedText(removed)}. Its data is kept in ${directory}: it can be deleted, nothing is mounted there.\n`,
    );
    return exitCodes.success;
  } catch (error) {
    if (!(error instanceof TearDownError)) throw error;
    process.stderr.write(`moor node: ${error.message}\n`);
    return exitCodes.failure;
  } finally {
    await lock.release();
  }
}

function nodeProcessOptions(flags: FlagValues): NodeProcessOptions {
  const name = nodeNameOf(flags);
  if (outputOf(flags) === 'json') throw new UsageError('-o json needs --down: a node that runs prints no data');
  const podCidr = flags.text('pod-cidr');
  if (podCidr !== undefined && !/^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/.test(podCidr))
    throw new UsageError(`--pod-cidr must be an IPv4 CIDR, such as 10.244.0.0/24, not "${podCidr}"`);
  const listen = flags.text('listen');
  return {
    access: accessToServers(flags),
    name,
    podCidr,
    listen: listen === undefined ? undefined : parseListen(listen),
    directory: directoryOf(flags, name),
    rootDir: rootDirOf(flags),
    security: securityOptions(flags),
    imageSettings: imageOptions(flags),
    logLevel: logLevelOf(flags),
  };
}

/** Damaged files of the node are refused in one line. */
async function runUndamaged(options: NodeProcessOptions): Promise<ExitCode> {
  try {
    return await runNode(options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    process.stderr.write(`moor node: ${explainStartFailure(error, { dataDir: options.directory })}\n`);
    return exitCodes.notInOrder;
  }
}

/** Runs a node until a signal ends it. Resolves with the exit code. */
async function runNode({ access, name, podCidr, directory, rootDir, logLevel, listen, imageSettings, security }: NodeProcessOptions): Promise<ExitCode> {
  const ability = canSandbox();
  if (!ability.can) {
    process.stderr.write(`moor node: pods cannot run here: ${ability.why}\n`);
    return exitCodes.failure;
  }
  const root = await nodeDirectory(directory);
  const lock = await lockCluster(root);
  if (lock === undefined) {
    process.stderr.write(`moor node: another process runs a node with ${root}: --name or --data-dir names another one\n`);
    return exitCodes.failure;
  }
  try {
    return await runInDirectory(root, { access, name, podCidr, rootDir, logLevel, listen, security, imageSettings });
  } finally {
    await lock.release();
  }
}

async function runInDirectory(
  root: string,
  { access, name, podCidr, rootDir, logLevel, listen, security, imageSettings }: Omit<NodeProcessOptions, 'directory'>,
): Promise<ExitCode> {
  const world = createRealWorld({ logLevel });
  const ended = firstSignal();
  const abort = new AbortController();
  const own = await withProgress(`Asking ${access.url} for a certificate of the node`, ({ say }) => {
    const onRequested = (request: string): void => say(`Waiting until the request ${request} is approved (kubectl certificate approve ${request})`);
    const asked = identityOf({ access, name, root, world, onRequested, signal: abort.signal });
    return Promise.race([asked.catch((error: unknown) => error as Error), ended]);
  });
  if (typeof own === 'string') {
    abort.abort();
    return exitCodes.success;
  }
  if (own instanceof Error) {
    if (isDamage(own)) throw own;
    process.stderr.write(`moor node: cannot get a certificate from ${access.url}: ${own.message}\n`);
    return exitCodes.failure;
  }
  const endpoint = await openEndpoint({ access, listen, world }).catch((error: unknown) => error as Error);
  if (endpoint instanceof Error) {
    process.stderr.write(`moor node: cannot listen for the API server: ${endpoint.message}\n`);
    own.close();
    return exitCodes.failure;
  }
  const sandbox = path.join(root, 'sandbox');
  const volumes = rootDir === undefined ? root : await separateRoot(root, rootDir);
  const cidr = podCidr ?? (await podCidrFor({ node: name, root: sandbox, own }));
  const images = endpoint === undefined ? undefined : await nodeImageVolumes(imageDirectory(root), name);
  const machine = await describeMachine({ name, podCidr: cidr, root, security, endpoint });
  const host = images === undefined ? machine : images.withDriver(machine);
  const runtime = localSandboxRuntime(world, { root: sandbox, podCidr: cidr });
  const reader = new NodeReader({ transport: own, node: name, world, sha256 });
  const { manager: containerImages, collector, close: closeImages } = await openImageManager(root, world, imageSettings);
  collector.follow(runtime);
  const network = await startPodNetwork({ world, directory: root, nodes: [{ host, sandbox }], transport: own, eventTransport: own, ownPodsOnly: true });
  const agent = await startLocalNodeAgent(
    { host, root: volumes, runtime, images, containerImages, network },
    { world, readTransport: reader, eventTransport: own, nodeTransport: own },
  );
  collector.start();
  const streams = new RuntimeStreams(runtime, agent.pages);
  const stopServing = await endpoint?.serve({
    agent,
    streams: images === undefined ? streams : withImageRequests(streams, images.driver, name),
    host,
    own,
    files: secretFiles(path.join(root, 'pki')),
  });
  const isReady = await withProgress(`Registering the node with ${access.url}`, () => Promise.race([agent.ready.then(() => true), ended.then(() => false)]));
  if (isReady) {
    process.stdout.write(
      `Node ${name} is ready: ${access.url}\n\n  data  ${root}\n\nCtrl-C stops this process; its containers keep running. "moor node --data-dir ${root} --down" ends them.\n`,
    );
    await ended;
  }
  // An action may wait for an API server that does not answer. The next start continues with it, as after a crash.
  world.timers.after(longestStopMs, () => {
    process.stderr.write(`moor node: actions have not finished after ${longestStopMs / 1000} s: the next start continues with them\n`);
    process.exit(exitCodes.success);
  });
  await withProgress('Waiting for actions that have begun', async () => {
    await stopServing?.();
    await agent.stop();
    await network.stop({ podsGoOn: hasRunningPods(agent) });
    await closeImages();
    await releaseRoot(root);
  });
  reader.close();
  own.close();
  return exitCodes.success;
}

const longestStopMs = 30_000;

interface IdentityRequest extends Pick<NodeProcessOptions, 'access' | 'name'> {
  readonly root: string;
  readonly world: World;
  readonly onRequested: (name: string) => void;
  readonly signal: AbortSignal;
}

/** With the node's own certificate; a server over plain HTTP gets no credentials. */
function identityOf({ access, name, root, world, onRequested, signal }: IdentityRequest): Promise<Transport & { close(): void }> {
  const userAgent = `moor/${version} (${name})`;
  if (access.url.startsWith('http://')) return Promise.resolve(new HttpTransport({ access, world, userAgent }));
  return NodeIdentity.open({ access, node: name, files: secretFiles(path.join(root, 'pki')), world, userAgent, onRequested, signal });
}
