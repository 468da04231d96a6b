import path from 'node:path';
import type { ClusterCloudOptions } from '../../cluster/cloud/cluster-cloud.ts';
import { isLoopback } from '../../cluster/cloud/is-loopback.ts';
import { regions } from '../../cloud/engine/regions.ts';
import { type Flag, type FlagValues, UsageError } from '../command.ts';
import { parseListen } from '../shared-flags.ts';

export const cloudRegionFlag: Flag = {
  name: 'cloud-region',
  value: 'REGION',
  about: 'the region that the cloud is',
  oneOf: [...regions.keys()],
  default: 'us-west-2',
};

export const cloudFaultsFlag: Flag = {
  name: 'cloud-faults',
  value: 'FILE',
  about: 'what goes wrong in the cloud, in YAML; the file is read again whenever it changes (docs/CLOUD.md)',
};

/** Of `moor up`. */
export const cloudFlags: readonly Flag[] = [
  {
    name: 'cloud',
    value: 'PROVIDER',
    about: 'a cloud on this machine: its instances are hollow nodes, its disks are those of ebs.csi.aws.com (docs/CLOUD.md)',
    oneOf: ['aws'],
    default: 'no cloud',
  },
  cloudRegionFlag,
  cloudFaultsFlag,
  { name: 'cloud-listen', value: 'HOST:PORT', about: 'the address of the endpoint of EC2, on loopback; port 0 picks a free one', default: '127.0.0.1:0' },
];

/** What the nodes of a cloud have is said by their instance types. */
const contradicting = ['zones', 'region', 'node-capacity', 'volume-limit', 'csi-drivers', 'root-dir'];

/** Undefined: no cloud. @throws UsageError */
export function cloudOptions(flags: FlagValues, { isMemory }: { readonly isMemory: boolean }): ClusterCloudOptions | undefined {
  const stray = ['cloud-region', 'cloud-faults', 'cloud-listen'].find((name) => flags.text(name) !== undefined);
  if (flags.text('cloud') === undefined) {
    if (stray !== undefined) throw new UsageError(`--${stray} needs --cloud aws`);
    return undefined;
  }
  const other = contradicting.find((name) => flags.text(name) !== undefined);
  if (other !== undefined) throw new UsageError(`--${other} describes nodes without a cloud: leave it out, or --cloud`);
  if (flags.text('runtime') === 'sandbox') throw new UsageError('--runtime sandbox: the nodes of a cloud are hollow');
  const [file, address, nodes] = [flags.text('cloud-faults'), flags.text('cloud-listen'), flags.text('nodes')];
  const listen = address === undefined ? undefined : parseListen(address);
  if (listen !== undefined && !isLoopback(listen.host))
    throw new UsageError(`--cloud-listen: ${listen.host} is no loopback address, and this endpoint takes any signature`);
  return {
    provider: 'aws',
    region: flags.text('cloud-region'),
    faultsFile: file === undefined ? undefined : path.resolve(file),
    listen,
    nodes: nodes === undefined ? undefined : Number(nodes),
    keepsNothing: isMemory,
  };
}
