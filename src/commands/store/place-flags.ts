import { embeddedPlace, etcdPlace, type StorePlace } from '../../cluster/data-directory/store-places.ts';
import { createRealWorld } from '../../host/world.ts';
import { type Flag, type FlagValues, UsageError } from '../command.ts';
import { etcdFlags, etcdOptions } from '../etcd/etcd-flags.ts';
import { dataDirectoryIn, dataDirFlag } from '../life-cycle/cluster-argument.ts';
import { privatePath } from '../private-path.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { encryptionConfigOf, encryptionFlag } from '../shared-flags.ts';
import { explainStartFailure } from '../start-failure.ts';

/** Which store a command is about: etcd if its servers are given, else the embedded one of a data directory. */
export const placeFlags: readonly Flag[] = [
  { ...dataDirFlag, about: 'the data directory of a cluster with an embedded store, instead of its name' },
  ...etcdFlags,
  encryptionFlag,
];

/** `skipped`: how many arguments come before the name of the cluster. @throws UsageError */
export const dataDirFrom = (flags: FlagValues, skipped = 0): string => privatePath('data-dir', dataDirectoryIn(flags, skipped));

/** Of a command that is about one store. @throws UsageError */
export function etcdFrom(flags: FlagValues, skipped = 0) {
  const etcd = etcdOptions(flags, flags.text('etcd-servers') === undefined ? 'embedded' : 'etcd');
  const name = flags.arguments[skipped];
  if (etcd !== undefined && name !== undefined) throw new UsageError(`give a name or --etcd-servers, not both: "${name}" has its objects in a data directory`);
  return etcd;
}

/** Of a command that is about one store, whose arguments begin with a file. @throws UsageError */
export function placeOf(flags: FlagValues): StorePlace {
  const options = placeOptions(flags);
  const etcd = etcdFrom(flags, 1);
  return etcd === undefined ? embeddedPlace(dataDirFrom(flags, 1), options) : etcdPlace(etcd, options);
}

/** Of a command that is about both. @throws UsageError */
export function placesOf(flags: FlagValues): { readonly embedded: StorePlace; readonly etcd: StorePlace | undefined; readonly dataDir: string } {
  const options = placeOptions(flags);
  const etcd = flags.text('etcd-servers') === undefined ? undefined : etcdOptions(flags, 'etcd');
  const dataDir = dataDirFrom(flags);
  return { embedded: embeddedPlace(dataDir, options), etcd: etcd && etcdPlace(etcd, options), dataDir };
}

const placeOptions = (flags: FlagValues) => ({ world: createRealWorld({ logLevel: 'warn' }), encryptionConfig: encryptionConfigOf(flags) });

/** Runs `task`; a store that is refused is explained in one line. */
export async function explaining(command: string, dataDir: string, task: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await task();
  } catch (error) {
    const explanation = explainStartFailure(error, { dataDir });
    if (explanation === undefined) throw error;
    process.stderr.write(`moor store ${command}: ${explanation}\n`);
    return exitCodes.failure;
  }
}
