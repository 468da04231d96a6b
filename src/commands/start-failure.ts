import { UnreadableValue } from '../apiserver/encryption/encrypted-store.ts';
import { ConfigFileError } from '../apiserver/configuration/config-file.ts';
import { CloudError } from '../cloud/engine/errors.ts';
import { FaultsError } from '../cloud/engine/parse-faults.ts';
import { DamagedStateFile, StateFileInUse } from '../cloud/engine/state-file.ts';
import { JournalDamage } from '../node/volume-manager/journal.ts';
import { StoreError } from '../store/contract.ts';
import { KubeconfigInUse } from '../cluster/apiserver/kubeconfig-file.ts';
import { NoSandboxError } from '../cluster/nodes/cluster-nodes.ts';
import { DataDamage, NewerData } from '../cluster/data-directory/data-damage.ts';
import { AuthorityNotYetValid } from '../apiserver/certificates/certificate-files.ts';
import { ClusterDirectoryError } from '../cluster/life-cycle/cluster-directory.ts';
import { version } from '../cluster/version.ts';
import { ExposedSecret } from '../host/secret-files.ts';

/** What the command was to start with, for messages. */
interface StartOptions {
  readonly dataDir?: string;
  readonly listen?: Address;
  readonly cloud?: { readonly listen?: Address | undefined } | undefined;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Whether the data was refused as damaged. */
export const isDamage = (error: unknown): boolean =>
  error instanceof DataDamage ||
  error instanceof ExposedSecret ||
  error instanceof JournalDamage ||
  error instanceof DamagedStateFile ||
  (error instanceof StoreError && !(error instanceof UnreadableValue) && error.code === 'corrupt');

/** Why a cluster did not start, and what to do; undefined: an unexpected error. */
export function explainStartFailure(error: unknown, options: StartOptions): string | undefined {
  if (error instanceof NoSandboxError) return `${error.message}. Without --runtime sandbox, nodes are hollow where pods cannot run.`;
  if (error instanceof ClusterDirectoryError || error instanceof KubeconfigInUse || error instanceof ConfigFileError) return error.message;
  if (error instanceof FaultsError) return `--cloud-faults ${error.message}.`;
  if (error instanceof CloudError || error instanceof StateFileInUse) return `${error.message}.`;
  if (error instanceof AuthorityNotYetValid) return `${error.message}.`;
  if (error instanceof DataDamage)
    return `the data in ${options.dataDir} is damaged and was not changed: ${error.message}. ${error.advice ?? repairAdvice(options)}`;
  if (error instanceof ExposedSecret || error instanceof JournalDamage || error instanceof DamagedStateFile) return `${error.message}.`;
  if (error instanceof NewerData) return newerData(error, options);
  if (error instanceof UnreadableValue) return `${error.message}. Start with an --encryption-provider-config that has that key.`;
  if (error instanceof StoreError) return explainStore(error, options);
  // The objects of a new cluster are written through the API, whose errors have the store's error as their cause.
  if (error instanceof Error && error.cause instanceof StoreError) return explainStore(error.cause, options);
  return explainSystem(error as NodeJS.ErrnoException, options);
}

function explainSystem(error: NodeJS.ErrnoException & { readonly port?: number }, options: StartOptions): string | undefined {
  const isOfCloud = options.cloud?.listen !== undefined && error.port === options.cloud.listen.port && error.port !== options.listen?.port;
  const [flag, listen] = isOfCloud ? ['--cloud-listen', options.cloud.listen] : ['--listen', options.listen];
  const address = `${listen?.host}:${listen?.port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${address} is in use by another program (address already in use). Stop it, or choose another port with ${flag} (port 0 picks a free one).`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${address} is not an address of this machine. Choose one with ${flag}, such as 127.0.0.1:6443.`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      if (error.syscall === 'listen') return `this user may not listen on ${address}. Choose a port above 1023 with ${flag} (port 0 picks a free one).`;
      return `${error.message}. Choose a directory that you may write with --data-dir.`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk that holds ${options.dataDir} is full. Free some space, or choose another directory with --data-dir.`;
    case 'ENOENT':
      return `${error.message}.`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${options.dataDir} cannot be used as a directory. Choose another one with --data-dir.`;
    default:
      return undefined;
  }
}

const repairAdvice = ({ dataDir }: StartOptions): string =>
  `Restore a backup, or run "moor store repair --data-dir ${dataDir}": it states what would be lost, and asks.`;

const newerData = (error: Error, { dataDir }: StartOptions): string =>
  `the data in ${dataDir} was written by a newer version of Mooring than this one (${version}): ${error.message}. Use that version, or another --data-dir.`;

function explainStore(error: StoreError, options: StartOptions): string | undefined {
  const { dataDir } = options;
  switch (error.code) {
    case 'locked':
      return `${dataDir} is in use by another moor (${error.message}). Stop that one, or choose another directory with --data-dir.`;
    case 'newer-version':
      return newerData(error, options);
    case 'corrupt':
      return `the data in ${dataDir} is damaged and was not changed: ${error.message}. ${repairAdvice(options)}`;
    case 'full':
      return `the disk that holds ${dataDir} is full. Free some space, or choose another directory with --data-dir.`;
    case 'failed':
      if (isDenied(error))
        return `permission denied: ${error.message}. Choose a directory that you may write with --data-dir, or start it as the user who owns this one.`;
      return `the disk that holds ${dataDir} failed: ${error.message}.`;
    case 'unavailable':
    case 'foreign':
    case 'unsupported':
      return error.message.replace(/\.?$/, '.');
    case 'compacted':
    case 'future':
    case 'closed':
    case 'too-large':
    case 'undecided':
      return undefined;
  }
}

const isDenied = ({ cause }: StoreError): boolean => ['EACCES', 'EPERM', 'EROFS'].includes((cause as NodeJS.ErrnoException | undefined)?.code ?? '');
