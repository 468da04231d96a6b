import path from 'node:path';
import { openCloud } from '../../cluster/cloud/open-cloud.ts';
import { firstSignal } from '../../host/first-signal.ts';
import { createRealWorld } from '../../host/world.ts';
import { isLoopback } from '../../cluster/cloud/is-loopback.ts';
import { cloudFaultsFlag, cloudRegionFlag } from './cloud-flags.ts';
import { cloudEnvironment } from './environment.ts';
import { type Command, type FlagValues, UsageError } from '../command.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { logLevelFlag, logLevelOf, parseListen } from '../shared-flags.ts';

/** `moor cloud`: the cloud alone. */
export const cloudCommand: Command = {
  about: `Serves a cloud with the protocol of EC2 on this machine, until SIGINT or SIGTERM: zones, instance types, instances, volumes,
snapshots and prices, with the latencies and limits of the real one. The aws CLI and AWS's SDKs reach it by
AWS_ENDPOINT_URL. Nothing runs on its instances: "moor up --cloud aws" makes nodes of them.

docs/CLOUD.md has the actions and the faults.`,
  flags: [
    {
      name: 'listen',
      value: 'HOST:PORT',
      about: 'the address to serve on; port 0 picks a free one; other addresses than loopback need --check-signatures',
      default: '127.0.0.1:4566',
    },
    cloudRegionFlag,
    cloudFaultsFlag,
    { name: 'data-dir', value: 'DIR', about: 'where its state is kept; without it, it ends with the process' },
    {
      name: 'check-signatures',
      about: 'requests have to be signed with the access key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; without it any signature will do',
    },
    logLevelFlag,
  ],
  examples: [
    { line: 'moor cloud --cloud-region eu-west-2', about: 'a region with three zones' },
    { line: 'moor cloud --data-dir ./cloud --cloud-faults faults.yaml', about: 'with a state that outlives it, and faults' },
  ],
  run: (flags) => serve(flags),
};

async function serve(flags: FlagValues): Promise<ExitCode> {
  const world = createRealWorld({ logLevel: logLevelOf(flags) });
  const directory = flags.text('data-dir');
  const listen = parseListen(flags.text('listen') ?? '127.0.0.1:4566');
  if (!isLoopback(listen.host) && !flags.on('check-signatures'))
    throw new UsageError(`--listen: ${listen.host} is no loopback address: add --check-signatures`);
  const ended = firstSignal();
  try {
    const { url, cloud, close } = await openCloud(
      {
        region: flags.text('cloud-region'),
        faultsFile: flags.text('cloud-faults'),
        listen,
        directory: directory === undefined ? undefined : path.resolve(directory),
        keys: flags.on('check-signatures') ? keysOfEnvironment() : undefined,
      },
      world,
    );
    const environment = cloudEnvironment({ url, region: cloud.region.name, checksSignatures: flags.on('check-signatures') });
    process.stdout.write(`The cloud is ready: ${url} (${cloud.region.name})\n\n  ${environment}\n\nCtrl-C stops it.\n`);
    await ended;
    await close();
    return exitCodes.success;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    process.stderr.write(`moor: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitCodes.failure;
  }
}

/** @throws UsageError */
function keysOfEnvironment(): ReadonlyMap<string, string> {
  const { AWS_ACCESS_KEY_ID: id = '', AWS_SECRET_ACCESS_KEY: secret = '' } = process.env;
  if (id === '' || secret === '') throw new UsageError('--check-signatures needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment');
  return new Map([[id, secret]]);
}
