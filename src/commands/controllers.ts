import path from 'node:path';
import { type KeyPair, readPair } from '../apiserver/certificates/certificate-files.ts';
import { createClient } from '../client/client.ts';
import { certificateSigner } from '../cluster/apiserver/certificate-signer.ts';
import { controllerNames } from '../cluster/access/controller-roles.ts';
import { startControllers } from '../cluster/controllers/controllers.ts';
import { keepLocalIntents } from '../cluster/controllers/local-intents.ts';
import { discoverServedKinds, type ServedKinds } from '../cluster/controllers/served-kinds.ts';
import { type EtcdOptions, keysInEtcd } from '../cluster/data-directory/open-data.ts';
import { CsiSockets } from '../cluster/nodes/csi-endpoints.ts';
import { imageDriversIn, machineDrivers } from '../cluster/nodes/machine-drivers.ts';
import { secretFiles } from '../host/secret-files.ts';
import type { SecretFiles } from '../world/secret-files.ts';
import type { World } from '../world/world.ts';
import type { Command } from './command.ts';
import { etcdFlags, etcdOptions } from './etcd/etcd-flags.ts';
import { type LeaderElectedProcessOptions, leaderElectionFlags, leaderElectionOptions, runLeaderElectedProcess } from './leader-elected-process.ts';
import { csiEndpointFlag, csiEndpointsOf, dataDirectoryOf, encryptionConfigOf, encryptionFlag, imagesFlag } from './shared-flags.ts';
import { type ExitCode } from './result/exit-codes.ts';

/** `moor controllers`: the controllers without the API server. */
export const controllersCommand: Command = {
  about: `Runs the controllers of "moor up" against an API server elsewhere, over HTTPS. Start as many processes as you like: one
leads, by the Lease kube-system/moor-controllers. Another one takes over in a few seconds if the leader stopped cleanly, in
15 to 25 if it died. Mooring's API server rejects writes of a process that no longer leads.

On Mooring each controller acts under its own ServiceAccount in kube-system, with the rights of its role. Where the server
issues no such tokens, all act as the user of the kubeconfig. The controllers also work with other Kubernetes API servers
(and with "moor up --plain"): PVs and PVCs are then bound in Kubernetes' four writes.

Drivers that keep data on disk keep it on the machine of the leading process. Beside the "moor up" of the cluster, under the
same user, it also serves the image volumes of the default class and issues the certificates of nodes. Beside "moor server",
it issues them if --etcd-servers and the flags below it say where the certificate authority is.`,
  flags: [...leaderElectionFlags, imagesFlag, csiEndpointFlag, ...etcdFlags, encryptionFlag],
  examples: [
    { line: 'moor up --controllers=false', about: 'an API server without controllers …' },
    { line: 'moor controllers --kubeconfig ./kubeconfig', about: '… and the controllers; again in another terminal for a standby' },
  ],
  run: async (flags) => {
    const options = leaderElectionOptions(flags);
    const etcd = etcdOptions(flags, flags.text('etcd-servers') === undefined ? 'embedded' : 'etcd');
    const encryptionConfig = encryptionConfigOf(flags);
    const dataDir = await dataDirectoryOf(flags, options.access);
    return runControllers({ ...options, dataDir, etcd, encryptionConfig, csiEndpoints: csiEndpointsOf(flags) });
  },
};

interface ControllersProcessOptions extends LeaderElectedProcessOptions {
  /** The data directory of a `moor up` on this machine, for its image volumes and its certificate authority; undefined: none. */
  readonly dataDir: string | undefined;
  readonly csiEndpoints: readonly string[];
  /** Where the certificate authority of `moor server` is; undefined: unknown. */
  readonly etcd: EtcdOptions | undefined;
  readonly encryptionConfig: string | undefined;
}

/** Runs the controllers against an API server elsewhere until a signal ends them. Resolves with the exit code. */
function runControllers(options: ControllersProcessOptions): Promise<ExitCode> {
  const { identity, dataDir, csiEndpoints } = options;
  return runLeaderElectedProcess(options, {
    ready: 'Controllers are ready',
    start: async (connections, { world, bindsTogether }) => {
      const served = await discoverServedKinds(connections.own);
      const drivers = await machineDrivers(createClient({ transport: connections.own }), await imageDriversIn(dataDir, connections.own));
      await connections.identify(controllerNames);
      const csiSockets = new CsiSockets({ world, drivers, client: createClient({ transport: connections.connect('persistent-volume-binder') }) });
      for (const address of csiEndpoints) csiSockets.open({ address });
      const intents = bindsTogether ? undefined : keepLocalIntents(world);
      const controllers = startControllers({
        connect: intents === undefined ? connections.connect : (name) => intents.wrap(connections.connect(name)),
        world,
        kinds: served.kinds,
        drivers,
        csiSockets,
        bindsTogether,
        election: { identity },
        pageSize: 500,
        ...(await housekeepingFor(served, { ...options, world })),
      });
      return {
        stop: async () => {
          await controllers.stop();
          await csiSockets.close();
          await intents?.close();
        },
      };
    },
  });
}

interface Machine extends Pick<ControllersProcessOptions, 'access' | 'dataDir' | 'etcd' | 'encryptionConfig'> {
  readonly world: World;
}

/**
 * The namespace controller and the garbage collector must know every kind of the server. A server with other kinds, as every real Kubernetes,
 * runs them itself.
 */
async function housekeepingFor({ complete }: ServedKinds, machine: Machine) {
  const { world } = machine;
  const { ca } = machine.access;
  if (complete && ca !== undefined) {
    const files = await keysOf(machine);
    const authority = files === undefined ? undefined : await authorityIn(files, ca);
    return { housekeeping: { rootCa: ca, ...(authority === undefined ? {} : { sign: certificateSigner(authority, world.clock) }) } };
  }
  const why = complete ? 'the kubeconfig has no certificate authority' : 'the server has kinds that are unknown here';
  world.log.info('the controllers of namespaces, service accounts, garbage and workloads do not run here', { why });
  return {};
}

async function keysOf({ dataDir, etcd, encryptionConfig, world }: Machine): Promise<SecretFiles | undefined> {
  if (etcd !== undefined) return keysInEtcd(etcd, encryptionConfig, world);
  return dataDir === undefined ? undefined : secretFiles(path.join(dataDir, 'pki'));
}

/** The authority of the cluster, not of another one. */
async function authorityIn(files: SecretFiles, ca: string): Promise<KeyPair | undefined> {
  const pair = await readPair(files, 'ca');
  return pair?.certificate.trim() === ca.trim() ? pair : undefined;
}
