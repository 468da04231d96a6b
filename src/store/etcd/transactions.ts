import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  Compare_CompareResult,
  Compare_CompareTarget,
  type KeyValue,
  type RequestOpSchema,
  type ResponseOp,
  type TxnRequestSchema,
} from '../../grpc/generated/etcd.ts';
import { type Compare, StoreError, type Transaction, type Write } from '../contract.ts';
import { refuseTwice } from '../mvcc/evaluate.ts';
import type { EtcdKeys } from './keys.ts';

/** etcd's default of --max-txn-ops. */
export const MAX_OPERATIONS = 128;

/**
 * One request: if all compares hold, the writes; else what the compared keys hold instead.
 * @throws TypeError if a key is written twice, StoreError `too-large`
 */
export function requestOf({ compares, writes }: Transaction, keys: EtcdKeys): MessageInitShape<typeof TxnRequestSchema> {
  refuseTwice(writes);
  refuseTooMany(compares.length, 'compares');
  refuseTooMany(writes.length, 'writes');
  return {
    compare: compares.map(({ key, modRevision }) => ({
      key: keys.encode(key),
      target: Compare_CompareTarget.MOD,
      result: Compare_CompareResult.EQUAL,
      targetUnion: { case: 'modRevision', value: keys.etcdRevision(modRevision) },
    })),
    success: writes.map((write) => operationOf(write, keys)),
    failure: compares.map(({ key }) => ({ request: { case: 'requestRange', value: { key: keys.encode(key) } } })),
  };
}

/** The compares that failed, and what etcd found. */
export function conflictsOf(
  compares: readonly Compare[],
  responses: readonly ResponseOp[],
  keys: EtcdKeys,
): readonly { key: string; found: KeyValue | undefined }[] {
  return compares.flatMap(({ key, modRevision }, i) => {
    const { response } = responses[i] ?? {};
    const found = response?.case === 'responseRange' ? response.value.kvs[0] : undefined;
    return keys.revisionOf(found?.modRevision) === modRevision ? [] : [{ key, found }];
  });
}

/** Whether the writes changed anything: to delete an absent key does not. */
export const hasWritten = (responses: readonly ResponseOp[]): boolean =>
  responses.some(({ response }) => response.case === 'responsePut' || (response.case === 'responseDeleteRange' && response.value.deleted > 0n));

function operationOf(write: Write, keys: EtcdKeys): MessageInitShape<typeof RequestOpSchema> {
  const key = keys.encode(write.key);
  if (write.type === 'delete') return { request: { case: 'requestDeleteRange', value: { key } } };
  return { request: { case: 'requestPut', value: { key, value: write.value } } };
}

function refuseTooMany(count: number, what: string): void {
  if (count > MAX_OPERATIONS)
    throw new StoreError('too-large', `the transaction has ${count} ${what}, and etcd takes at most ${MAX_OPERATIONS} (--max-txn-ops)`);
}
