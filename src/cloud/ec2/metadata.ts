/** The instance metadata service, version 2: what an instance is told about itself. */
import type { Cloud } from '../engine/cloud.ts';
import { instanceTypes } from '../engine/instance-types.ts';
import { accountId } from '../engine/network.ts';
import type { Instance } from '../engine/records.ts';
import { privateDnsName } from '../engine/regions.ts';
import { macAddressOf } from './actions/described-instance.ts';
import type { HttpAnswer, HttpRequest } from './endpoint.ts';

export interface MetadataOptions {
  readonly cloud: Cloud;
  /** The instance that asks. Absent: a header names it, for programs that play several. */
  readonly instanceId?: string | undefined;
  readonly newToken: () => string;
  readonly now: () => number;
}

const tokenPath = '/latest/api/token';
const [leastTtl, mostTtl] = [1, 21_600];
/** Tokens of earlier requests that are remembered. */
const mostTokens = 10_000;

const text = (status: number, body: string): HttpAnswer => ({ status, headers: { 'content-type': 'text/plain' }, body });

export class MetadataService {
  readonly #options: MetadataOptions;
  /** Token → until when it is good. */
  readonly #tokens = new Map<string, number>();

  constructor(options: MetadataOptions) {
    this.#options = options;
  }

  handle({ method, path, headers }: HttpRequest): HttpAnswer {
    const { now } = this.#options;
    if (path === tokenPath) return method === 'PUT' ? this.#newToken(headers['x-aws-ec2-metadata-token-ttl-seconds']) : text(405, '');
    const until = this.#tokens.get(headers['x-aws-ec2-metadata-token'] ?? '');
    if (until === undefined || until < now()) return text(401, '');
    if (method !== 'GET') return text(405, '');
    const instance = this.#instance(headers['x-moor-instance-id']);
    const content = instance === undefined ? undefined : this.#contentOf(instance, path.replace(/\/$/, ''));
    return content === undefined ? text(404, '') : text(200, content);
  }

  #newToken(ttl = ''): HttpAnswer {
    const seconds = Number(ttl);
    if (!/^\d+$/.test(ttl) || seconds < leastTtl || seconds > mostTtl) return text(400, '');
    const token = this.#options.newToken();
    this.#tokens.set(token, this.#options.now() + seconds * 1000);
    if (this.#tokens.size > mostTokens) this.#tokens.delete(this.#tokens.keys().next().value ?? '');
    return { status: 200, headers: { 'content-type': 'text/plain', 'x-aws-ec2-metadata-token-ttl-seconds': ttl }, body: token };
  }

  #instance(named: string | undefined): Instance | undefined {
    const id = this.#options.instanceId ?? named;
    const instance = id === undefined ? undefined : this.#options.cloud.state.instances.get(id);
    return instance?.state === 'running' || instance?.state === 'pending' ? instance : undefined;
  }

  #contentOf(instance: Instance, path: string): string | undefined {
    const { cloud } = this.#options;
    const { id, type, zone, privateAddress, imageId, capacityType } = instance;
    const region = cloud.region.name;
    const mac = macAddressOf(privateAddress);
    const devices = cloud.state.attachedTo(id);
    const document = {
      accountId,
      architecture: instanceTypes.get(type)?.architecture,
      availabilityZone: zone,
      imageId,
      instanceId: id,
      instanceType: type,
      pendingTime: new Date(instance.launchTime).toISOString(),
      privateIp: privateAddress,
      region,
      version: '2017-09-30',
    };
    const contents: Readonly<Record<string, string | undefined>> = {
      '/latest/dynamic/instance-identity/document': JSON.stringify(document, undefined, 2),
      '/latest/meta-data/ami-id': imageId,
      '/latest/meta-data/block-device-mapping': ['ami', ...devices.slice(1).map((_, i) => `ebs${i + 1}`), 'root'].join('\n'),
      '/latest/meta-data/instance-id': id,
      '/latest/meta-data/instance-life-cycle': capacityType,
      '/latest/meta-data/instance-type': type,
      '/latest/meta-data/local-hostname': privateDnsName(privateAddress, region),
      '/latest/meta-data/local-ipv4': privateAddress,
      '/latest/meta-data/mac': mac,
      '/latest/meta-data/network/interfaces/macs': `${mac}/`,
      '/latest/meta-data/placement/availability-zone': zone,
      '/latest/meta-data/placement/availability-zone-id': cloud.region.zones.find(({ name }) => name === zone)?.id,
      '/latest/meta-data/placement/region': region,
      '/latest/user-data': instance.userData,
    };
    return Object.hasOwn(contents, path) ? contents[path] : undefined;
  }
}
