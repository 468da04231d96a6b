import type { Action } from './profile.ts';

/** A system call as a filter sees it. */
export interface FilteredCall {
  /** The instruction set (AUDIT_ARCH_…). */
  readonly audit: number;
  readonly number: number;
  readonly args: readonly bigint[];
}

/** Runs a filter as the kernel does. @throws on an instruction that `compileFilter` does not use */
export function verdictOf(filter: Uint8Array, { audit, number, args }: FilteredCall): Action {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit, 4);
  args.forEach((arg, index) => data.writeBigUInt64LE(arg, 16 + 8 * index));
  const code = Buffer.from(filter);
  let accumulator = 0;
  for (let at = 0; at < code.length / 8; at++) {
    const [operation, isTrue, isFalse, value] = [code.readUInt16LE(8 * at), code[8 * at + 2] ?? 0, code[8 * at + 3] ?? 0, code.readUInt32LE(8 * at + 4)];
    if (operation === 0x20) accumulator = data.readUInt32LE(value);
    else if (operation === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (operation === 0x05) at += value;
    else if (operation === 0x15) at += accumulator === value ? isTrue : isFalse;
    else if (operation === 0x25) at += accumulator > value ? isTrue : isFalse;
    else if (operation === 0x35) at += accumulator >= value ? isTrue : isFalse;
    else if (operation === 0x06) return value;
    else throw new Error(`instruction ${at} has the code ${operation}`);
  }
  throw new Error('the filter ends without a verdict');
}
