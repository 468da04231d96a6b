import { describe, expect, test } from 'vitest';
import { type Architecture, architecturesOf } from './architectures.ts';
import { compileFilter } from './compile.ts';
import { type Action, actions, allow, type Condition, ENOSYS, EPERM, errno, killThread, type Operator, operators, permits, type Profile } from './profile.ts';
import { runtimeDefault } from './runtime-default.ts';
import { type FilteredCall, verdictOf } from './verdict.ts';

const holds = ({ index, op, value, valueTwo }: Condition, args: readonly bigint[], wide: boolean): boolean => {
  const cut = (number: bigint) => (wide ? number : BigInt.asUintN(32, number));
  const [arg, first, second] = [cut(args[index] ?? 0n), cut(value), cut(valueTwo)];
  const results: Readonly<Record<Operator, boolean>> = {
    SCMP_CMP_NE: arg !== first,
    SCMP_CMP_LT: arg < first,
    SCMP_CMP_LE: arg <= first,
    SCMP_CMP_EQ: arg === first,
    SCMP_CMP_GE: arg >= first,
    SCMP_CMP_GT: arg > first,
    SCMP_CMP_MASKED_EQ: (arg & first) === second,
  };
  return results[op];
};

/** What a profile says of a system call, read off without a program. */
function meaning(profile: Profile, architecture: Architecture, { number, args }: FilteredCall): Action {
  const named = (name: string) => architecture.numbers.get(name) === number - architecture.bit;
  const effective = profile.rules.filter(({ action }) => action !== profile.defaultAction);
  const own = effective.filter(({ name }) => named(name));
  const always = own.find(({ conditions }) => conditions.length === 0);
  if (always !== undefined) return always.action;
  const multiplexed = effective.filter(({ name, conditions }) => {
    const subcall = architecture.multiplexed.get(name);
    return subcall !== undefined && conditions.length === 0 && named(subcall.by) && BigInt.asUintN(32, args[0] ?? 0n) === BigInt(subcall.subcall);
  });
  const found = own.find(({ conditions }) => conditions.every((each) => holds(each, args, architecture.wide))) ?? multiplexed[0];
  if (found !== undefined) return found.action;
  const highest = Math.max(-1, ...profile.rules.map(({ name }) => architecture.numbers.get(name) ?? -1));
  return highest >= 0 && number - architecture.bit > highest && !permits(profile.defaultAction) ? errno(ENOSYS) : profile.defaultAction;
}

const compiled = (profile: Profile, machine: string): Uint8Array => {
  const filter = compileFilter(profile, machine);
  if (filter === undefined) throw new Error(`there is no filter for ${machine}`);
  return filter;
};

/** Values around those that conditions compare with. */
function samples(profile: Profile): readonly bigint[] {
  const compared = profile.rules.flatMap(({ conditions }) => conditions.flatMap(({ value, valueTwo }) => [value, valueTwo]));
  const around = [0n, ...compared].flatMap((value) => [value - 1n, value, value + 1n, value + (1n << 32n), value | (1n << 63n)]);
  return [...new Set(around.map((value) => BigInt.asUintN(64, value)))];
}

function compare(profile: Profile, machine: string): number {
  const filter = compiled(profile, machine);
  const conditional = new Set(profile.rules.filter(({ conditions }) => conditions.length > 0).map(({ name }) => name));
  let compared = 0;
  for (const architecture of architecturesOf(machine)) {
    if (!profile.architectures.includes(architecture.name)) continue;
    const numbers = new Set([...Array.from({ length: 600 }, (_, number) => number), ...architecture.numbers.values()]);
    const withArguments = new Set([...conditional, 'socketcall', 'ipc'].map((name) => architecture.numbers.get(name)));
    for (const number of numbers) {
      for (const first of withArguments.has(number) ? samples(profile) : [0n]) {
        const call = { audit: architecture.audit, number: architecture.bit + number, args: [first, first, first, first, first, first] };
        const [got, wanted] = [verdictOf(filter, call), meaning(profile, architecture, call)];
        if (got !== wanted) throw new Error(`${architecture.name} ${number}(${first}): 0x${got.toString(16)}, not 0x${wanted.toString(16)}`);
        compared++;
      }
    }
  }
  return compared;
}

const bounding = (...names: readonly string[]) => new Set(names.map((name) => `CAP_${name}`));
const x64 = 0xc000_003e;

describe('a filter decides as its profile says', () => {
  test.each(['amd64', 'arm64'])('RuntimeDefault on %s, for every number of every instruction set', (machine) => {
    for (const capabilities of [bounding(), bounding('SYS_CHROOT', 'SYS_PTRACE'), bounding('SYS_ADMIN', 'SYS_MODULE', 'SYS_TIME', 'BPF')]) {
      expect(compare(runtimeDefault({ machine, capabilities }), machine)).toBeGreaterThan(1200);
    }
  });

  test.each(operators)('%s, for each argument, beside a rule of another', (op) => {
    const value = 0x0000_0005_0000_0007n;
    for (const index of [0, 3, 5]) {
      const rules = [
        { name: 'read', action: errno(5), conditions: [{ index, op, value, valueTwo: 0x0000_0004_0000_0003n }] },
        { name: 'read', action: errno(6), conditions: [{ index, op: 'SCMP_CMP_EQ' as const, value: 3n, valueTwo: 0n }] },
        { name: 'write', action: killThread, conditions: [] },
      ];
      for (const defaultAction of [allow, errno(EPERM)]) compare({ defaultAction, architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86'], rules }, 'amd64');
    }
  });

  test('every action arrives, and a rule without conditions beats those with', () => {
    for (const make of Object.values(actions)) {
      const rules = [
        { name: 'getpid', action: allow, conditions: [{ index: 0, op: 'SCMP_CMP_EQ' as const, value: 0n, valueTwo: 0n }] },
        { name: 'getpid', action: make(7), conditions: [] },
      ];
      expect(verdictOf(compiled({ defaultAction: errno(13), architectures: [], rules }, 'amd64'), { audit: x64, number: 39, args: [0n] })).toBe(make(7));
    }
  });

  test('an instruction set that the profile does not name is killed, x32 too', () => {
    const filter = compiled({ defaultAction: allow, architectures: [], rules: [] }, 'amd64');
    expect(verdictOf(filter, { audit: x64, number: 0, args: [] })).toBe(allow);
    expect(verdictOf(filter, { audit: x64, number: 0x4000_0000, args: [] })).toBe(killThread);
    expect(verdictOf(filter, { audit: 0x4000_0003, number: 0, args: [] })).toBe(killThread);
  });

  test('there is none for a machine without a table of system calls, and none that the kernel would refuse', () => {
    const profile: Profile = { defaultAction: allow, architectures: [], rules: [] };
    expect(compileFilter(profile, 'riscv64')).toBeUndefined();
    const conditions = (value: number) => [{ index: 0, op: 'SCMP_CMP_EQ' as const, value: BigInt(value), valueTwo: 0n }];
    const rules = Array.from({ length: 1000 }, (_, value) => ({ name: 'read', action: errno(1), conditions: conditions(value) }));
    expect(() => compileFilter({ ...profile, rules }, 'amd64')).toThrow(RangeError);
  });
});

describe('RuntimeDefault', () => {
  const of = (capabilities: ReadonlySet<string>, number: number, ...args: readonly bigint[]) =>
    verdictOf(compiled(runtimeDefault({ machine: 'amd64', capabilities }), 'amd64'), { audit: x64, number, args });
  const numbers = architecturesOf('amd64')[0]?.numbers ?? new Map<string, number>();
  const call = (name: string, ...args: readonly bigint[]) => of(bounding('SYS_CHROOT'), numbers.get(name) ?? -1, ...args);

  test.each([
    'unshare',
    'setns',
    'mount',
    'umount2',
    'keyctl',
    'add_key',
    'request_key',
    'bpf',
    'perf_event_open',
    'init_module',
    'kexec_load',
    'userfaultfd',
    'open_by_handle_at',
    'io_uring_setup',
    'swapon',
    'reboot',
    'move_mount',
    'fsopen',
    'pivot_root',
    'acct',
    'settimeofday',
  ])('%s is not permitted', (name) => expect(call(name)).toBe(errno(EPERM)));

  test.each(['read', 'openat', 'execve', 'ptrace', 'chroot', 'io_submit', 'seccomp', 'prctl', 'futex_waitv'])('%s is', (name) =>
    expect(call(name)).toBe(allow),
  );

  test('clone makes threads and processes, no namespaces; clone3 is answered as by an old kernel', () => {
    expect(call('clone', 0x3d0f00n)).toBe(allow);
    for (const flag of [0x0002_0000n, 0x0200_0000n, 0x1000_0000n, 0x4000_0000n]) expect(call('clone', flag | 0x11n)).toBe(errno(EPERM));
    expect(call('clone3')).toBe(errno(ENOSYS));
    expect(of(bounding('SYS_ADMIN'), numbers.get('clone3') ?? -1)).toBe(allow);
  });

  test('sockets of all domains but AF_ALG and AF_VSOCK', () => {
    const refused = Array.from({ length: 50 }, (_, domain) => domain).filter((domain) => call('socket', BigInt(domain)) !== allow);
    expect(refused).toEqual([38, 40, 46, 47, 48, 49]);
  });

  test('a system call that is newer than the profile is answered as by an old kernel', () => {
    expect(call('getxattrat')).toBe(allow);
    expect(of(bounding(), 999)).toBe(errno(ENOSYS));
  });
});
