import { homedir, hostname } from 'node:os';
import path from 'node:path';
import { dnsSubdomainProblems } from '../api/validation/names.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { accessFlags, accessOf } from './cluster-access.ts';
import type { NodeProcessOptions } from './run-node.ts';
import type { LogLevel } from '../host/world.ts';
import { defaultDataDir, parseListen } from './up.ts';

/** `moor node`: this machine as a node of a cluster elsewhere. */
export const nodeCommand: Command = {
  name: 'node',
  summary: 'make this machine a node of a cluster: its pods run here, with their volumes mounted',
  about: `Registers this machine as a node and runs the pods that are scheduled to it as processes in namespaces of their own, with
their volumes really mounted. Needs Linux and root. Containers go on and volumes stay mounted when it ends, however it
ends; the next start finds them.

The kubeconfig says where the server is and is good for one thing: to ask for the node's own certificate (a
CertificateSigningRequest). "moor up --bootstrap-kubeconfig FILE" writes one that can do nothing else. The key never leaves
this machine; the certificate is kept beside it (DIR/pki, readable by root alone) and renewed before it ends. From then
on it acts as system:node:NAME, and reads and writes no more than a node may. With --server it acts as whoever that
server takes it for.

It serves HTTPS for the API server, which asks there for what goes on in its pods: "kubectl logs", exec, attach, cp and
port-forward. Its certificate for that comes from the cluster as well. Others get in only if the API server says so.`,
  flags: [
    ...accessFlags,
    { name: 'name', value: 'NAME', about: 'the name of the node', default: "the machine's name" },
    { name: 'data-dir', value: 'DIR', about: 'where containers and volumes are', default: `${defaultDataDir('~')}/nodes/NAME` },
    {
      name: 'listen',
      value: 'HOST:PORT',
      about: 'where it listens for the API server; port 0 picks a free one, and a HOST that is an address is announced as its own',
      default: '0.0.0.0:10250, or a free port if that is taken',
    },
    { name: 'pod-cidr', value: 'CIDR', about: 'the addresses of its pods', default: 'a block that nothing else on this machine has' },
    {
      name: 'log-level',
      value: 'LEVEL',
      about: 'debug, info, warn or error; JSON lines on standard error',
      oneOf: ['debug', 'info', 'warn', 'error'],
      default: 'info',
    },
  ],
  examples: [
    {
      line: 'moor node --kubeconfig ./bootstrap --name node-a',
      about: 'one more node for the cluster that wrote ./bootstrap (moor up --bootstrap-kubeconfig)',
    },
  ],
  run: async (flags) => {
    const options = { ...nodeOf(flags), access: await accessOf(flags) };
    // Loaded here, so that other commands do not wait for it.
    const { runNodeProcess } = await import('./run-node.ts');
    return runNodeProcess(options);
  },
};

function nodeOf(flags: FlagValues): Omit<NodeProcessOptions, 'access'> {
  const name = (flags.text('name') ?? hostname()).toLowerCase();
  const [problem] = dnsSubdomainProblems(name);
  if (problem !== undefined) throw new UsageError(`"${name}" is no name for a node: ${problem}`);
  const podCidr = flags.text('pod-cidr');
  if (podCidr !== undefined && !/^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/.test(podCidr))
    throw new UsageError(`--pod-cidr wants a block of IPv4 addresses, such as 10.244.0.0/24, not "${podCidr}"`);
  const listen = flags.text('listen');
  return {
    name,
    podCidr,
    listen: listen === undefined ? undefined : parseListen(listen),
    directory: path.resolve(flags.text('data-dir') ?? path.join(defaultDataDir(homedir()), 'nodes', name)),
    logLevel: (flags.text('log-level') as LogLevel | undefined) ?? 'info',
  };
}
