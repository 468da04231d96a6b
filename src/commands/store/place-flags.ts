import { dataDirOf } from '../../cluster/life-cycle/cluster-record.ts';
import { embeddedPlace, etcdPlace, type StorePlace } from '../../cluster/data-directory/store-places.ts';
import { createRealWorld } from '../../host/world.ts';
import { type Flag, type FlagValues } from '../command.ts';
import { etcdFlags, etcdOptions } from '../etcd/etcd-flags.ts';
import { privatePath } from '../private-path.ts';
import { type ExitCode, exitCodes } from '../result/exit-codes.ts';
import { encryptionConfigOf, encryptionFlag } from '../shared-flags.ts';
import { explainStartFailure } from '../start-failure.ts';

/** Which store a command is about: etcd if its servers are given, else the embedded one of a data directory. */
export const placeFlags: readonly Flag[] = [
  { name: 'data-dir', value: 'DIR', about: 'the data directory of a "moor up" with an embedded store', default: dataDirOf(undefined, '~') },
  ...etcdFlags,
  encryptionFlag,
];

export const dataDirFrom = (flags: FlagValues): string => privatePath('data-dir', flags.text('data-dir') ?? dataDirOf());

export const etcdFrom = (flags: FlagValues) => etcdOptions(flags, flags.text('etcd-servers') === undefined ? 'embedded' : 'etcd');

/** @throws UsageError */
export function placesOf(flags: FlagValues): { readonly embedded: StorePlace; readonly etcd: StorePlace | undefined; readonly dataDir: string } {
  const options = { world: createRealWorld({ logLevel: 'warn' }), encryptionConfig: encryptionConfigOf(flags) };
  const etcd = etcdFrom(flags);
  const dataDir = dataDirFrom(flags);
  return { embedded: embeddedPlace(dataDir, options), etcd: etcd && etcdPlace(etcd, options), dataDir };
}

/** Runs `task`; a store that is refused is explained in one line. */
export async function explaining(command: string, flags: FlagValues, task: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await task();
  } catch (error) {
    const explanation = explainStartFailure(error, { dataDir: dataDirFrom(flags) });
    if (explanation === undefined) throw error;
    process.stderr.write(`moor store ${command}: ${explanation}\n`);
    return exitCodes.failure;
  }
}
