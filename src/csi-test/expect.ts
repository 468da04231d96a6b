import { type ErrorCode, RpcError } from '../grpc/status.ts';
import type { Bench, TestNode, TestVolume } from './bench.ts';
import { textOf } from './ledger.ts';
import { NotApplicable, Violation } from './violation.ts';

/** `what`: 'a repeated CreateVolume'. */
export async function expectOk<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof RpcError) throw new Violation(`${what} answers ${textOf(error)}, not OK`);
    throw error;
  }
}

/** The call has to fail with one of the codes, and a message. */
export async function expectCode(what: string, call: () => Promise<unknown>, expected: readonly ErrorCode[]): Promise<void> {
  let failure: unknown;
  try {
    await call();
  } catch (error) {
    failure = error;
  }
  if (failure === undefined) throw new Violation(`${what} answers OK, not ${expected.join(' or ')}`);
  if (!(failure instanceof RpcError)) throw failure;
  if (!expected.includes(failure.code)) throw new Violation(`${what} answers ${textOf(failure)}, not ${expected.join(' or ')}`);
}

export function expectThat(holds: boolean, message: string): void {
  if (!holds) throw new Violation(message);
}

/** A message or part of it as text: 64-bit integers included. */
export const shown = (value: unknown): string => JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));

export function expectSame(what: string, first: unknown, second: unknown): void {
  const [one, other] = [shown(first), shown(second)];
  if (one !== other) throw new Violation(`${what}: first ${one}, then ${other}`);
}

/** How many mounts lie on a path. */
export async function mountsAt(bench: Bench, path: string): Promise<number> {
  return (await bench.context.machine.mounts.table()).filter(({ target }) => target === path).length;
}

/** Writes a file into a published volume. */
export async function writeData(bench: Bench, volume: TestVolume, text: string, { pod = 'pod', node = bench.node } = {}): Promise<void> {
  const path = `${bench.targetPath(volume, pod, node)}/moor-csi-test`;
  try {
    await bench.context.machine.files.write(path, new TextEncoder().encode(text), 0o644);
  } catch (error) {
    throw new NotApplicable(`this process cannot write to ${path}: ${textOf(error)}`);
  }
}

export async function expectData(bench: Bench, volume: TestVolume, text: string, { pod = 'pod', node = bench.node, what = 'the volume' } = {}): Promise<void> {
  const path = `${bench.targetPath(volume, pod, node)}/moor-csi-test`;
  const { files } = bench.context.machine;
  if ((await files.stat(path)) === undefined) throw new Violation(`${what} has lost a file that was written to it`);
  const found = new TextDecoder().decode(await files.read(path));
  if (found !== text) throw new Violation(`${what} has other data than was written to it`);
}

/** Creates, attaches, stages and publishes a volume. */
export async function publishedVolume(bench: Bench, node: TestNode = bench.node): Promise<TestVolume> {
  const volume = await bench.readyToPublish(await bench.createVolume(), { node });
  await bench.publish(volume, 'pod', { node });
  return volume;
}

/** Takes a volume away from its pod and node. */
export async function takeDown(bench: Bench, volume: TestVolume, pod = 'pod'): Promise<void> {
  await bench.unpublish(volume, pod);
  if (bench.has('node:STAGE_UNSTAGE_VOLUME')) await bench.unstage(volume);
  if (bench.has('controller:PUBLISH_UNPUBLISH_VOLUME')) await bench.detach(volume);
}
