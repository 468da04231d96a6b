/** A cloud on this machine behind its endpoint, for `moor cloud` and `moor up --cloud aws`. */
import { randomUUID } from 'node:crypto';
import { readFileSync, watch } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { Cloud, type CloudOptions } from '../../cloud/engine/cloud.ts';
import { CloudError } from '../../cloud/engine/errors.ts';
import type { Fault } from '../../cloud/engine/faults.ts';
import { FaultsError, parseFaults } from '../../cloud/engine/parse-faults.ts';
import { StateFile } from '../../cloud/engine/state-file.ts';
import { Ec2Endpoint, type HttpRequest } from '../../cloud/ec2/endpoint.ts';
import { MetadataService } from '../../cloud/ec2/metadata.ts';
import { serveCloud } from '../../cloud/http-server.ts';
import { realDisk } from '../../host/disk.ts';
import type { World } from '../../world/world.ts';
import { isLoopback } from './is-loopback.ts';

export interface CloudSettings {
  /** Default: us-west-2. */
  readonly region?: string | undefined;
  /** A YAML file. It is read again whenever it changes. */
  readonly faultsFile?: string | undefined;
  /** Of the endpoint. Absent: loopback, on a free port. */
  readonly listen?: { readonly host: string; readonly port: number } | undefined;
  /** The directory of its state. Absent: nothing is kept. */
  readonly directory?: string | undefined;
  /** Access key → secret: signatures are checked. */
  readonly keys?: ReadonlyMap<string, string> | undefined;
  readonly latencies?: CloudOptions['latencies'];
}

export interface OpenCloud {
  readonly cloud: Cloud;
  /** Of EC2 and STS. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** @throws FaultsError, DamagedStateFile, StateFileInUse, CloudError if there is no such region or its state is of another, and what listening throws */
export async function openCloud(settings: CloudSettings, world: World): Promise<OpenCloud> {
  const { region, faultsFile, directory, keys, latencies, listen = { host: '127.0.0.1', port: 0 } } = settings;
  const faults = faultsFile === undefined ? [] : readFaults(faultsFile);
  const file = directory === undefined ? undefined : await StateFile.open(realDisk, directory);
  const cloud = new Cloud({ world, region, faults, latencies, records: file?.records, keep: file?.keep });
  checkRegion(cloud);
  const now = () => world.clock.now();
  const endpoint = new Ec2Endpoint({ cloud, keys, now, newRequestId: randomUUID });
  const metadata = new MetadataService({ cloud, now, newToken: randomUUID });
  // Requests to the metadata service are not signed.
  const isMetadata = ({ path }: HttpRequest): boolean => path.startsWith('/latest/') && isLoopback(listen.host);
  const server = await serveCloud(listen, (request) => (isMetadata(request) ? metadata.handle(request) : endpoint.handle(request))).catch(
    async (error: unknown) => {
      cloud.close();
      await file?.close();
      throw error;
    },
  );
  const unwatch = faultsFile === undefined ? () => undefined : followFaults(faultsFile, cloud, world);
  const close = async () => {
    unwatch();
    await server.close();
    cloud.close();
    await file?.close();
  };
  return { cloud, url: server.url, close };
}

/** What an earlier start kept is in the region of that start. @throws CloudError */
function checkRegion({ state, region }: Cloud): void {
  for (const { id, zone } of [...state.instances.values(), ...state.volumes.values()])
    if (!region.zones.some(({ name }) => name === zone))
      throw new CloudError(
        'InvalidParameterValue',
        `the region is ${region.name}, and the cloud has ${id} in ${zone} since an earlier start: give that --cloud-region`,
      );
}

/** @throws FaultsError */
export function readFaults(file: string): readonly Fault[] {
  try {
    return parseFaults(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new FaultsError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Editors replace files: its directory is watched. A file that cannot be used leaves the faults as they are. */
function followFaults(file: string, cloud: Cloud, { log }: World): () => void {
  let last = textOf(file);
  const watcher = watch(path.dirname(path.resolve(file)), (_, changed) => {
    const text = textOf(file);
    if (changed !== path.basename(file) || text === undefined || text === last) return;
    last = text;
    try {
      cloud.setFaults(readFaults(file));
      log.info('other faults hold in the cloud', { file });
    } catch (error) {
      log.warn('the faults of the cloud stay as they are', { file, error: error instanceof Error ? error.message : String(error) });
    }
  });
  watcher.unref();
  return () => watcher.close();
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
