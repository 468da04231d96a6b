import { readSnapshot, saveSnapshot } from '../../cluster/data-directory/snapshot-file.ts';
import type { Command, CommandGroup, FlagValues } from '../command.ts';
import { privatePath } from '../private-path.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { outputFlag, outputOf, printData } from '../result/output.ts';
import { withProgress } from '../result/progress.ts';
import { wholeNumber } from '../shared-flags.ts';
import { dataDirFrom, explaining, placeFlags, placeOf } from './place-flags.ts';

const fileArgument = { usage: 'FILE [NAME]', about: 'the snapshot; the name of the cluster, as "moor list" shows it', least: 1, most: 2 };

const saveCommand: Command = {
  about: `Writes all objects as of one revision, and the keys of the cluster, to a file that only its owner can read. With
--etcd-servers the servers may run; an embedded store is read while no "moor up" uses it. Encrypted values stay encrypted.`,
  arguments: fileArgument,
  flags: [...placeFlags, outputFlag],
  examples: [
    { line: 'moor store snapshot save ./backup shop', about: 'the embedded store of a cluster that is stopped' },
    { line: 'moor store snapshot save ./backup --etcd-servers http://127.0.0.1:2379', about: 'the objects in etcd, also while servers run' },
  ],
  run: (flags) => explaining('snapshot save', dataDirFrom(flags, 1), () => save(flags)),
};

/** etcdutl's --bump-revision, which its documentation suggests as high. */
const BUMP = 1_000_000_000;

const restoreCommand: Command = {
  about: `Creates a store from a snapshot: under a prefix of etcd that has no keys, or in a data directory without a store. What is
written is read again and compared with the file. Revisions go on at least --bump-revision after that of the snapshot, since clients
may know later ones: they list again.`,
  arguments: fileArgument,
  flags: [...placeFlags, { name: 'bump-revision', value: 'N', about: 'how far revisions go on after the snapshot', default: String(BUMP) }, outputFlag],
  examples: [
    { line: 'moor store snapshot restore ./backup --data-dir ./data', about: 'then "moor up --data-dir ./data"' },
    { line: 'moor store snapshot restore ./backup --etcd-servers http://127.0.0.1:2379 --etcd-prefix /restored', about: 'beside what etcd has' },
  ],
  run: (flags) => explaining('snapshot restore', dataDirFrom(flags, 1), () => restore(flags)),
};

/** `moor store snapshot`. */
export const storeSnapshotCommand: CommandGroup = {
  about: 'moor store snapshot: all objects of a cluster in one file.',
  commands: [
    { name: 'save', summary: 'write the objects of a store to a file', load: () => Promise.resolve(saveCommand) },
    { name: 'restore', summary: 'create a store from such a file', load: () => Promise.resolve(restoreCommand) },
  ],
};

const fileOf = (flags: FlagValues): string => privatePath('FILE', flags.arguments[0] ?? '');

async function save(flags: FlagValues): Promise<ExitCode> {
  const file = fileOf(flags);
  const place = placeOf(flags);
  const content = await withProgress(`Reading ${place.name}`, () => place.read('may run'));
  const digest = await withProgress(`Writing ${file}`, () => saveSnapshot(file, content));
  const { clusterId, revision, entries } = content;
  printData(
    outputOf(flags),
    { file, clusterId, revision, keys: entries.length, digest },
    () => `Saved ${entries.length} keys of the cluster ${clusterId} at revision ${revision} to ${file} (sha256 ${digest}).\n`,
  );
  return exitCodes.success;
}

async function restore(flags: FlagValues): Promise<ExitCode> {
  const file = fileOf(flags);
  const place = placeOf(flags);
  const saved = await withProgress(`Reading ${file}`, () => readSnapshot(file));
  const content = { ...saved, revision: saved.revision + (wholeNumber(flags, 'bump-revision') ?? BUMP) };
  await withProgress(`Writing to ${place.name}`, () => place.write(content));
  printData(
    outputOf(flags),
    { file, clusterId: content.clusterId, revision: content.revision, keys: content.entries.length },
    () => `Restored ${content.entries.length} keys of the cluster ${content.clusterId} to ${place.name}; revisions go on after ${content.revision}.\n`,
  );
  return exitCodes.success;
}
