import { leaveToEtcd } from '../../cluster/data-directory/store-places.ts';
import { digestOf } from '../../cluster/data-directory/content-digest.ts';
import { type Command, type FlagValues, UsageError } from '../command.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { withProgress } from '../result/progress.ts';
import { clusterArgument } from '../life-cycle/cluster-argument.ts';
import { dataDirFrom, explaining, placeFlags, placesOf } from './place-flags.ts';

/** `moor store migrate`: from the embedded store to etcd, or back. */
export const storeMigrateCommand: Command = {
  arguments: clusterArgument,
  about: `Copies all objects, and the keys of the cluster, from the embedded store of a data directory to a prefix of etcd that has no
keys, or from there to a data directory. No server of the cluster may run. What is written is read again, and the digests of all
objects are compared. Revisions go on after those of the store that is left, so that clients notice nothing but new watches.

Where the objects were, they are kept: the embedded store as DIR/store-before-migration-TIME, those in etcd under their prefix.`,
  flags: [{ name: 'to', value: 'KIND', about: 'where the objects are to be: etcd or embedded', oneOf: ['etcd', 'embedded'] }, ...placeFlags, outputFlag],
  examples: [
    { line: 'moor store migrate --to etcd --etcd-servers http://127.0.0.1:2379', about: 'then "moor up --store etcd …", or "moor server …"' },
    { line: 'moor store migrate --to embedded --data-dir ./data --etcd-servers http://127.0.0.1:2379', about: 'then "moor up --data-dir ./data"' },
  ],
  run: (flags) => explaining('migrate', dataDirFrom(flags), () => migrate(flags)),
};

async function migrate(flags: FlagValues): Promise<ExitCode> {
  const to = flags.text('to');
  if (to === undefined) throw new UsageError('migrate needs --to etcd or --to embedded');
  const { embedded, etcd, dataDir } = placesOf(flags);
  if (etcd === undefined) throw new UsageError('migrate needs --etcd-servers: the URLs of the members, with commas');
  const [source, target] = to === 'etcd' ? [embedded, etcd] : [etcd, embedded];
  const content = await withProgress(`Reading ${source.name}`, () => source.read('must be stopped'));
  await withProgress(`Writing ${content.entries.length} keys to ${target.name}`, () => target.write(content));
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const kept = to === 'etcd' ? await leaveToEtcd(dataDir, content.clusterId, time) : undefined;
  const { clusterId, revision, entries } = content;
  const next = to === 'etcd' ? '"moor up --store etcd", or "moor server", with the same --etcd-… flags' : `"moor up --data-dir ${dataDir}"`;
  printData(
    outputOf(flags),
    { clusterId, revision, keys: entries.length, digest: digestOf(entries), kept: kept ?? null },
    () =>
      `Moved ${entries.length} keys of the cluster ${clusterId} to ${target.name}, and compared them (sha256 ${digestOf(entries)}).\n` +
      `Next: ${next}.${kept === undefined ? '' : ` The embedded store is kept in ${kept}.`}\n`,
  );
  return exitCodes.success;
}
