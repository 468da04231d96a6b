/** The instruction sets whose system calls a filter distinguishes. */
import { aarch64Numbers } from './numbers/aarch64.ts';
import { armNumbers } from './numbers/arm.ts';
import { x32Numbers } from './numbers/x32.ts';
import { x86_64Numbers } from './numbers/x86-64.ts';
import { x86Numbers } from './numbers/x86.ts';

export interface Architecture {
  /** As profiles name it. */
  readonly name: string;
  /** What the kernel reports (AUDIT_ARCH_…). */
  readonly audit: number;
  /** Set in every number: x32 has the kernel's token of x86-64. */
  readonly bit: number;
  /** Arguments have 64 bits; else the upper half of each is not looked at. */
  readonly wide: boolean;
  readonly numbers: ReadonlyMap<string, number>;
  /** System calls that are also subcalls of another one, by its first argument. */
  readonly multiplexed: ReadonlyMap<string, { readonly by: string; readonly subcall: number }>;
}

/** `data`: 'name=number', separated by spaces. */
const numbersIn = (data: string): ReadonlyMap<string, number> =>
  new Map(
    data
      .trim()
      .split(/\s+/)
      .map((each) => {
        const [name = '', number = ''] = each.split('=');
        return [name, Number(number)] as const;
      }),
  );

const subcalls = (by: string, names: string, first: number) =>
  names.split(' ').flatMap((name, index) => (name === '-' ? [] : [[name, { by, subcall: first + index }] as const]));

/** socketcall(2) and ipc(2), in the order of their subcalls. */
const multiplexedOnX86 = new Map([
  ...subcalls(
    'socketcall',
    'socket bind connect listen accept getsockname getpeername socketpair send recv sendto recvfrom shutdown setsockopt getsockopt sendmsg recvmsg accept4 recvmmsg sendmmsg',
    1,
  ),
  ...subcalls('ipc', 'semop semget semctl semtimedop', 1),
  ...subcalls('ipc', 'msgsnd msgrcv msgget msgctl', 11),
  ...subcalls('ipc', 'shmat shmdt shmget shmctl', 21),
]);

const none: Architecture['multiplexed'] = new Map();

const all: readonly Architecture[] = [
  { name: 'SCMP_ARCH_X86_64', audit: 0xc000003e, bit: 0, wide: true, numbers: numbersIn(x86_64Numbers), multiplexed: none },
  { name: 'SCMP_ARCH_X32', audit: 0xc000003e, bit: 0x4000_0000, wide: true, numbers: numbersIn(x32Numbers), multiplexed: none },
  { name: 'SCMP_ARCH_X86', audit: 0x40000003, bit: 0, wide: false, numbers: numbersIn(x86Numbers), multiplexed: multiplexedOnX86 },
  { name: 'SCMP_ARCH_AARCH64', audit: 0xc00000b7, bit: 0, wide: true, numbers: numbersIn(aarch64Numbers), multiplexed: none },
  { name: 'SCMP_ARCH_ARM', audit: 0x40000028, bit: 0, wide: false, numbers: numbersIn(armNumbers), multiplexed: none },
];

/** The instruction sets that a machine runs, its own first. By GOARCH, as nodes report it. */
const ofMachines: Readonly<Record<string, readonly string[]>> = {
  amd64: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X32', 'SCMP_ARCH_X86'],
  arm64: ['SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM'],
};

/** Empty: filters cannot be made for such a machine. */
export const architecturesOf = (machine: string): readonly Architecture[] =>
  (ofMachines[machine] ?? []).flatMap((name) => all.filter((each) => each.name === name));

/** All that libseccomp knows: a profile may name those of other machines. */
export const architectureNames: ReadonlySet<string> = new Set(
  'X86 X86_64 X32 ARM AARCH64 MIPS MIPS64 MIPS64N32 MIPSEL MIPSEL64 MIPSEL64N32 PPC PPC64 PPC64LE S390 S390X PARISC PARISC64 RISCV64 LOONGARCH64 M68K SH SHEB'
    .split(' ')
    .map((name) => `SCMP_ARCH_${name}`),
);
