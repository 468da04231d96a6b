import { type ErrorCode, rpcErrorOf } from '../../grpc/status.ts';
import { type DriverAnswer, type DriverErrorCode, type DriverFailure, failed, succeeded } from '../contract.ts';

/** A driver's message becomes part of an Event. */
const maxMessage = 2048;

/** A failed call, in the words of Go's status package. Without an answer of the driver, as of a broken connection or of bytes that are no message, it is never final. */
export function rpcFailure(error: unknown): DriverFailure {
  const { code, message, isAnswer } = rpcErrorOf(error);
  const text = message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message;
  const failure = failed(driverCode(code), `rpc error: code = ${code} desc = ${text}`);
  return isAnswer ? failure : { ...failure, final: false };
}

/** CSI does not use DataLoss. */
const driverCode = (code: ErrorCode): DriverErrorCode => (code === 'DataLoss' ? 'Internal' : code);

export async function answerOf<T>(call: Promise<T>): Promise<DriverAnswer<T>> {
  try {
    return succeeded(await call);
  } catch (error) {
    return rpcFailure(error);
  }
}

/** After these the call may still be running in the driver (isFinalError in kubernetes/pkg/volume/csi/csi_client.go). */
const uncertain: ReadonlySet<DriverErrorCode> = new Set(['Canceled', 'DeadlineExceeded', 'Unavailable', 'ResourceExhausted', 'Aborted']);

/** Whether a failed stage or publish certainly left nothing behind. Where the driver answered, `Unknown` counts as final. */
export const isFinalRpc = ({ code, final }: DriverFailure): boolean => final ?? !uncertain.has(code);
