import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { version } from '../cluster/version.ts';
import type { VolumeBackend } from '../drivers/csi/server/backend.ts';
import { controllerService } from '../drivers/csi/server/controller.ts';
import { loadContext } from '../drivers/csi/server/driver-context.ts';
import { type CallFaults, parseCallFaults, withFaults } from '../drivers/csi/server/faults.ts';
import { hollowBackend } from '../drivers/csi/server/hollow-backend.ts';
import { hostPathBackend } from '../drivers/csi/server/host-path-backend.ts';
import { identityService } from '../drivers/csi/server/identity.ts';
import { imageBackend } from '../drivers/csi/server/image-backend.ts';
import { nodeService } from '../drivers/csi/server/node.ts';
import { parseAddress } from '../grpc/address.ts';
import { GrpcServer } from '../grpc/http2-server.ts';
import { realCopies } from '../host/copies.ts';
import { realDirectories, unsyncedDirectories } from '../host/directories.ts';
import { realDisk } from '../host/disk.ts';
import { realHostFiles } from '../host/files.ts';
import { firstSignal } from '../host/first-signal.ts';
import { mayResizeMounted, realImageDevices, realImages, whyNoImages } from '../host/images.ts';
import { realMounts } from '../host/mounts.ts';
import { createRealWorld } from '../host/world.ts';
import { type Command, type FlagValues, UsageError } from './command.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';

const types = ['image', 'host-path', 'hollow'] as const;
type DriverType = (typeof types)[number];

/** `moor csi serve`: an own driver behind a socket. */
export const csiServeCommand: Command = {
  about: `Serves the identity, controller and node services of CSI on a unix socket, until SIGINT or SIGTERM.

  image      volumes are image files with ext4, or block devices; their sizes are enforced
  host-path  volumes are directories; their sizes are not enforced
  hollow     volumes have no data; latencies and failures of calls come from --config

The driver writes down what it does before it does it: after kill -9, the next start goes on. docs/CSI.md has the details.`,
  arguments: { usage: types.join('|'), about: 'the kind of volumes', least: 1, most: 1 },
  flags: [
    { name: 'endpoint', value: 'unix://PATH', about: 'the socket to listen on; required' },
    { name: 'data-dir', value: 'DIR', about: 'for the volumes and their records; required' },
    { name: 'node-id', value: 'ID', about: 'the id of this node in NodeGetInfo and in the topology', default: 'the host name' },
    { name: 'driver-name', value: 'NAME', about: 'the name in GetPluginInfo', default: 'TYPE.csi.mooring.dev' },
    { name: 'config', value: 'FILE', about: 'of hollow: latencies and failures of calls, in YAML or JSON' },
  ],
  examples: [{ line: 'moor csi serve image --endpoint unix:///run/image.sock --data-dir /var/lib/images', about: 'a driver for one machine' }],
  run: (flags) => serve(flags),
};

async function serve(flags: FlagValues): Promise<ExitCode> {
  const type = types.find((each) => each === flags.arguments[0]);
  if (type === undefined) throw new UsageError(`"${flags.arguments[0]}" must be one of ${types.join(', ')}`);
  const endpoint = endpointOf(flags);
  const given = flags.text('data-dir');
  if (given === undefined) throw new UsageError('--data-dir DIR is missing');
  const config = flags.text('config');
  if (config !== undefined && type !== 'hollow') throw new UsageError('--config: only hollow has one');
  const faults = config === undefined ? {} : faultsOf(config);
  const problem = type === 'image' ? whyNoImages() : undefined;
  if (problem !== undefined) return failed(`image volumes need loop devices and ext4: ${problem}`);

  mkdirSync(path.resolve(given, 'volumes'), { recursive: true, mode: 0o700 });
  const dataDir = realpathSync(given);
  const lock = await realDisk.lock(dataDir);
  if (lock === undefined) return failed(`another process uses ${dataDir}`);
  const world = createRealWorld();
  const driverName = flags.text('driver-name') ?? `${type}.csi.mooring.dev`;
  const nodeId = flags.text('node-id') ?? hostname();
  const context = await loadContext({
    backend: backendOf(type, driverName, path.join(dataDir, 'volumes')),
    directories: type === 'hollow' ? unsyncedDirectories : realDirectories,
    dataDir,
    nodeId,
    version,
    clock: world.clock,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
  });
  const server = new GrpcServer(...[identityService(context), controllerService(context), nodeService(context)].map((each) => withFaults(each, faults, world)));
  try {
    await server.listen(endpoint, { timers: world.timers });
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
  process.stdout.write(`${driverName} serves ${endpoint}\n`);
  await firstSignal();
  await server.close();
  await lock.release();
  return exitCodes.success;
}

function failed(message: string): ExitCode {
  process.stderr.write(`moor csi serve: ${message}\n`);
  return exitCodes.failure;
}

function endpointOf(flags: FlagValues): string {
  const endpoint = flags.text('endpoint');
  if (endpoint === undefined) throw new UsageError('--endpoint unix://PATH is missing');
  try {
    if ('path' in parseAddress(endpoint)) return endpoint;
  } catch (error) {
    throw new UsageError(`--endpoint: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UsageError(`--endpoint "${endpoint}": CSI drivers listen on unix sockets only: unix://PATH`);
}

function faultsOf(file: string): CallFaults {
  try {
    return parseCallFaults(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new UsageError(`--config ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function backendOf(type: DriverType, driverName: string, root: string): VolumeBackend {
  const host = { mounts: realMounts(), files: realHostFiles };
  switch (type) {
    case 'image':
      return imageBackend({
        ...host,
        driverName,
        root,
        images: realImages(root),
        devices: realImageDevices,
        copies: realCopies,
        expandsOnline: mayResizeMounted(),
      });
    case 'host-path':
      return hostPathBackend({ ...host, driverName, root, copies: realCopies });
    case 'hollow':
      return hollowBackend(driverName, realHostFiles);
  }
}
