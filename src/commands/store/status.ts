import { type EtcdStatus, statusOfEtcd } from '../../store/etcd/status.ts';
import { etcdEndpoints } from '../../store/etcd/endpoints.ts';
import { storeDirectory } from '../../cluster/data-directory/data-directory.ts';
import { readDataManifest } from '../../cluster/data-directory/data-manifest.ts';
import { realDisk } from '../../host/disk.ts';
import { createRealWorld } from '../../host/world.ts';
import { StoreError } from '../../store/contract.ts';
import { examine } from '../../store/embedded/recovery.ts';
import type { Command, FlagValues } from '../command.ts';
import type { EtcdOptions } from '../../cluster/data-directory/open-data.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { withProgress } from '../result/progress.ts';
import { clusterArgument } from '../life-cycle/cluster-argument.ts';
import { dataDirFrom, etcdFrom, explaining, placeFlags } from './place-flags.ts';

/** `moor store status`. */
export const storeStatusCommand: Command = {
  arguments: clusterArgument,
  about: `With --etcd-servers: each member of etcd, which one leads, its size and version, alarms; the cluster under the prefix, its
keys, the revision, and to which one the servers have compacted etcd. Without: the embedded store of a data directory, as its files are.`,
  flags: [...placeFlags, outputFlag],
  examples: [
    { line: 'moor store status --etcd-servers http://127.0.0.1:2379', about: 'is etcd fine, and how full is it?' },
    { line: 'moor store status', about: 'the embedded store of the last "moor up"' },
  ],
  run: (flags) => explaining('status', dataDirFrom(flags), () => status(flags)),
};

function status(flags: FlagValues): Promise<ExitCode> {
  const etcd = etcdFrom(flags);
  return etcd === undefined ? embeddedStatus(flags) : etcdStatus(flags, etcd);
}

async function embeddedStatus(flags: FlagValues): Promise<ExitCode> {
  const dataDir = dataDirFrom(flags);
  const manifest = await readDataManifest(dataDir);
  if (manifest?.store !== 'embedded')
    throw new StoreError('foreign', `${dataDir} has ${manifest === undefined ? 'no cluster' : `a cluster whose objects are in ${manifest.store}`}`);
  const { tree } = await withProgress(`Reading ${dataDir}`, () => examine(realDisk, storeDirectory(dataDir)));
  const found = {
    dataDir,
    clusterId: manifest.clusterId,
    keys: tree.keys,
    bytes: tree.liveBytes,
    revision: tree.revision,
    compactedRevision: tree.compacted,
  };
  printData(
    outputOf(flags),
    found,
    () => `cluster   ${found.clusterId}
keys      ${found.keys} (${megabytes(found.bytes)})
revision  ${found.revision}, history from ${found.compactedRevision} on
`,
  );
  return exitCodes.success;
}

async function etcdStatus(flags: FlagValues, { servers, prefix, tls }: EtcdOptions): Promise<ExitCode> {
  const { timers } = createRealWorld({ logLevel: 'silent' });
  const found = await withProgress('Asking etcd', () => statusOfEtcd({ endpoints: etcdEndpoints(servers, { tls, timers }), prefix }));
  printData(outputOf(flags), found, textOf);
  return found.members.every(({ problem, alarms }) => problem === null && alarms.length === 0) ? exitCodes.success : exitCodes.notInOrder;
}

const megabytes = (bytes: number): string => `${(bytes / (1 << 20)).toFixed(1)} MiB`;

function textOf({ members, store, problem }: EtcdStatus): string {
  const lines = members.map((member) =>
    member.problem === null
      ? `${member.url}  ${member.isLeader ? 'leader' : 'follower'}  etcd ${member.version}  ${megabytes(member.bytes)}, ${megabytes(member.bytesInUse)} in use${member.alarms.map((alarm) => `  ALARM ${alarm}`).join('')}`
      : `${member.url}  ${member.problem}`,
  );
  if (store === null) return `${[...lines, '', problem ?? ''].join('\n')}\n`;
  const compaction = store.compactedRevision === null ? 'not compacted by servers yet' : `compacted to ${store.compactedRevision}`;
  return `${[...lines, '', `cluster   ${store.clusterId}`, `keys      ${store.keys}`, `revision  ${store.revision}, ${compaction}`].join('\n')}\n`;
}
