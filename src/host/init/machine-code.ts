/**
 * The only machine code of an init: a loop that makes the system call of a record, stores its result and goes on with the record that the result leads to. Both
 * listings are the output of GNU as.
 */
import type { InitArchitecture } from './system-calls.ts';

/** A record: twelve words. Arguments begin at the second one. */
export const record = { length: 96, call: 0, args: 8, result: 56, onError: 64, onZero: 72, onPositive: 80, allows: 88 } as const;

interface MachineCode {
  /** Of an ELF file. */
  readonly machine: number;
  readonly code: string;
  /** Offsets of the two addresses in it: of the first record, and of the two words for the last record and its result. */
  readonly first: number;
  readonly last: number;
}

const x64 = `
  48 bb 00 00 00 00 00 00 00 00   movabs $first,%rbx
  48 bd 00 00 00 00 00 00 00 00   movabs $last,%rbp
  48 8b 03                   loop: mov    (%rbx),%rax
  48 8b 7b 08                     mov    0x8(%rbx),%rdi
  48 8b 73 10                     mov    0x10(%rbx),%rsi
  48 8b 53 18                     mov    0x18(%rbx),%rdx
  4c 8b 53 20                     mov    0x20(%rbx),%r10
  4c 8b 43 28                     mov    0x28(%rbx),%r8
  4c 8b 4b 30                     mov    0x30(%rbx),%r9
  0f 05                           syscall
  48 89 5d 00                     mov    %rbx,0x0(%rbp)
  48 89 45 08                     mov    %rax,0x8(%rbp)
  48 8b 4b 38                     mov    0x38(%rbx),%rcx
  48 89 01                        mov    %rax,(%rcx)
  48 89 c1                        mov    %rax,%rcx
  48 f7 d9                        neg    %rcx
  48 83 f9 3f                     cmp    $0x3f,%rcx
  77 0c                           ja     compare
  48 8b 53 58                     mov    0x58(%rbx),%rdx
  48 0f a3 ca                     bt     %rcx,%rdx
  73 02                           jae    compare
  31 c0                           xor    %eax,%eax
  48 85 c0                compare: test   %rax,%rax
  78 08                           js     error
  74 0c                           je     zero
  48 8b 5b 50                     mov    0x50(%rbx),%rbx
  eb af                           jmp    loop
  48 8b 5b 40               error: mov    0x40(%rbx),%rbx
  eb a9                           jmp    loop
  48 8b 5b 48                zero: mov    0x48(%rbx),%rbx
  eb a3                           jmp    loop`;

const arm64 = `
  53 03 00 58                     ldr    x19, first
  74 03 00 58                     ldr    x20, last
  68 02 40 f9                loop: ldr    x8, [x19]
  60 86 40 a9                     ldp    x0, x1, [x19, #8]
  62 8e 41 a9                     ldp    x2, x3, [x19, #24]
  64 96 42 a9                     ldp    x4, x5, [x19, #40]
  01 00 00 d4                     svc    #0x0
  93 02 00 a9                     stp    x19, x0, [x20]
  61 1e 40 f9                     ldr    x1, [x19, #56]
  20 00 00 f9                     str    x0, [x1]
  e1 03 00 cb                     neg    x1, x0
  3f fc 00 f1                     cmp    x1, #0x3f
  a8 00 00 54                     b.hi   compare
  62 2e 40 f9                     ldr    x2, [x19, #88]
  42 24 c1 9a                     lsr    x2, x2, x1
  42 00 00 36                     tbz    w2, #0, compare
  00 00 80 d2                     mov    x0, #0x0
  1f 00 00 f1             compare: cmp    x0, #0x0
  8b 00 00 54                     b.lt   error
  a0 00 00 54                     b.eq   zero
  73 2a 40 f9                     ldr    x19, [x19, #80]
  ed ff ff 17                     b      loop
  73 22 40 f9               error: ldr    x19, [x19, #64]
  eb ff ff 17                     b      loop
  73 26 40 f9                zero: ldr    x19, [x19, #72]
  e9 ff ff 17                     b      loop
  00 00 00 00 00 00 00 00   first:
  00 00 00 00 00 00 00 00    last:`;

export const machineCodes: Readonly<Record<InitArchitecture, MachineCode>> = {
  x64: { machine: 62, code: x64, first: 2, last: 12 },
  arm64: { machine: 183, code: arm64, first: 0x68, last: 0x70 },
};

/** The bytes of a listing: what comes before two spaces in each line. */
export const bytesOf = (listing: string): Buffer =>
  Buffer.from(
    listing
      .split('\n')
      .map((line) => line.trim().split('  ')[0]?.replaceAll(' ', ''))
      .join(''),
    'hex',
  );
