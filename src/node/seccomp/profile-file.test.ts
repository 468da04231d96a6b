import { describe, expect, test } from 'vitest';
import { allow, errno } from './profile.ts';
import { ProfileError, readProfile } from './profile-file.ts';

const machine = { machine: 'amd64', kernelVersion: '6.1.0-18-amd64', capabilities: new Set(['CAP_SYS_ADMIN']) };
const read = (profile: unknown) => readProfile(Buffer.from(typeof profile === 'string' ? profile : JSON.stringify(profile)), machine);

describe('a file of a profile', () => {
  test('in the format of the runtime-spec', () => {
    const text = `{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86"],"syscalls":[
      {"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":13},
      {"names":["kill"],"action":"SCMP_ACT_ERRNO","args":[{"index":1,"value":18446744073709551615,"op":"SCMP_CMP_EQ"}]}]}`;
    expect(read(text)).toEqual({
      defaultAction: allow,
      architectures: ['SCMP_ARCH_X86'],
      rules: [
        { name: 'mkdir', action: errno(13), conditions: [] },
        { name: 'mkdirat', action: errno(13), conditions: [] },
        { name: 'kill', action: errno(1), conditions: [{ index: 1, op: 'SCMP_CMP_EQ', value: 2n ** 64n - 1n, valueTwo: 0n }] },
      ],
    });
  });

  test('in Docker’s: with its architectures and conditions', () => {
    const rule = (name: string, more: object) => ({ names: [name], action: 'SCMP_ACT_ALLOW', ...more });
    const syscalls = [
      rule('a', { includes: { caps: ['CAP_SYS_ADMIN'], arches: ['amd64'], minKernel: '4.8' } }),
      rule('b', { includes: { caps: ['CAP_SYS_TIME'] } }),
      rule('c', { includes: { arches: ['arm64'] } }),
      rule('d', { includes: { minKernel: '6.2' } }),
      rule('e', { excludes: { caps: ['CAP_SYS_ADMIN'] } }),
      rule('f', { excludes: { caps: ['CAP_SYS_TIME'] }, comment: 'why' }),
    ];
    const archMap = [{ architecture: 'SCMP_ARCH_X86_64', subArchitectures: ['SCMP_ARCH_X86', 'SCMP_ARCH_X32'] }];
    const profile = read({ defaultAction: 'SCMP_ACT_ERRNO', archMap, syscalls });
    expect(profile.rules.map(({ name }) => name)).toEqual(['a', 'f']);
    expect(profile.architectures).toEqual(['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32']);
  });

  test('conditions on one argument are alternatives', () => {
    const args = [1, 2].map((value) => ({ index: 0, value, op: 'SCMP_CMP_EQ' }));
    const { rules } = read({ defaultAction: 'SCMP_ACT_ERRNO', syscalls: [{ names: ['socket'], action: 'SCMP_ACT_ALLOW', args }] });
    expect(rules.map(({ conditions }) => conditions.map(({ value }) => value))).toEqual([[1n], [2n]]);
  });

  test.each([
    ['{', 'unexpected end of JSON input'],
    ['[]', 'the profile must be an object'],
    [{}, 'defaultAction is required'],
    [{ defaultAction: 'ALLOW' }, 'defaultAction: "ALLOW" is not an action'],
    [{ defaultAction: 'toString' }, 'defaultAction: "toString" is not an action'],
    [{ defaultAction: 'SCMP_ACT_NOTIFY' }, 'defaultAction: "SCMP_ACT_NOTIFY" is not supported: there is no seccomp agent here'],
    [{ defaultAction: 'SCMP_ACT_ALLOW', listenerPath: '/x' }, 'listenerPath: this field is not supported'],
    [{ defaultAction: 'SCMP_ACT_ALLOW', architectures: ['X86'] }, 'architectures: "X86" is not an architecture'],
    [{ defaultAction: 'SCMP_ACT_ALLOW', flags: ['SECCOMP_FILTER_FLAG_LOG'] }, 'flags: "SECCOMP_FILTER_FLAG_LOG" is not supported'],
    [{ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 65536 }, 'defaultErrnoRet must be at most 65535'],
    [
      { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [{ action: 'SCMP_ACT_LOG', args: [{ index: 6, op: 'SCMP_CMP_EQ' }] }] },
      'syscalls[0].args[0].index: a system call has no argument 6',
    ],
    [
      { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [{ action: 'SCMP_ACT_LOG', args: [{ value: -1, op: 'SCMP_CMP_EQ' }] }] },
      'syscalls[0].args[0].value must be an unsigned integer of 64 bits',
    ],
    [{ defaultAction: 'SCMP_ACT_ALLOW', syscalls: [{ action: 'SCMP_ACT_LOG', args: [{ op: '==' }] }] }, 'syscalls[0].args[0].op: "==" is not an operator'],
  ])('%j is refused', (profile, message) => {
    expect(() => read(profile)).toThrow(new ProfileError(message));
  });
});
