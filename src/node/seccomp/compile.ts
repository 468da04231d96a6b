/** Seccomp profiles as programs of the kernel (classic BPF, struct sock_filter). */
import { type Architecture, architecturesOf } from './architectures.ts';
import { type Action, type Condition, ENOSYS, errno, killThread, permits, type Profile, type Rule } from './profile.ts';

/** Undefined: there is no table of the machine's system calls. `machine`: its GOARCH. @throws RangeError if the kernel would refuse its length */
export function compileFilter(profile: Profile, machine: string): Uint8Array | undefined {
  const [native, ...others] = architecturesOf(machine);
  if (native === undefined) return undefined;
  const architectures = [native, ...others.filter(({ name }) => profile.architectures.includes(name))];
  const program = new Program();
  const sections = new Map<number, Architecture[]>();
  for (const each of architectures) sections.set(each.audit, [...(sections.get(each.audit) ?? []), each]);
  program.load(architectureOffset);
  for (const [audit, members] of sections) {
    // Conditional jumps reach 255 instructions only.
    const [own, next] = [program.label(), program.label()];
    program.jump('equal', audit, { isTrue: own });
    program.go(next);
    program.place(own);
    program.load(numberOffset);
    section(program, profile, members);
    program.place(next);
  }
  program.return(killThread);
  return program.assemble();
}

const [numberOffset, architectureOffset, argumentsOffset] = [0, 4, 16];

/** Numbers of instruction sets with one token: x32 has the upper ones. */
function section(program: Program, profile: Profile, members: readonly Architecture[]): void {
  const whole = members.flatMap((each) => spans(profile, each));
  // x32 is unknown to the profile: libseccomp answers as to any other unknown instruction set.
  const last = members.some(({ bit }) => bit !== 0) || members[0]?.name !== 'SCMP_ARCH_X86_64' ? [] : [{ from: 0x4000_0000, verdict: killThread, wide: true }];
  search(program, merged([...whole, ...last].toSorted((a, b) => a.from - b.from)));
}

/** From this number on up to the next span. */
interface Span {
  readonly from: number;
  readonly verdict: Action | readonly Rule[];
  readonly wide: boolean;
  /** Where no rule holds. */
  readonly otherwise?: Action;
}

function spans(profile: Profile, { numbers, multiplexed, bit, wide }: Architecture): readonly Span[] {
  const rules = new Map<number, Rule[]>();
  const add = (number: number | undefined, rule: Rule) => {
    if (number !== undefined) rules.set(number, [...(rules.get(number) ?? []), rule]);
  };
  // As with runc, rules that only repeat the default action hide no others.
  for (const rule of profile.rules.filter(({ action }) => action !== profile.defaultAction)) {
    add(numbers.get(rule.name), rule);
    const subcall = multiplexed.get(rule.name);
    // The other arguments are behind a pointer: no filter can look at them (libseccomp: abi_rule_add).
    if (subcall !== undefined && rule.conditions.length === 0) {
      const condition: Condition = { index: 0, op: 'SCMP_CMP_EQ', value: BigInt(subcall.subcall), valueTwo: 0n };
      add(numbers.get(subcall.by), { ...rule, conditions: [condition] });
    }
  }
  const named = profile.rules.map(({ name }) => numbers.get(name) ?? -1);
  const highest = named.reduce((most, number) => Math.max(most, number), -1);
  // System calls that are newer than the profile: programs fall back to older ones (runc: patchbpf).
  const beyond = permits(profile.defaultAction) || highest < 0 ? profile.defaultAction : errno(ENOSYS);
  const found = [...rules].flatMap(([number, of]): readonly Span[] => {
    const always = of.find(({ conditions }) => conditions.length === 0);
    const verdict = always === undefined ? of : always.action;
    return [
      { from: bit + number, verdict, wide, otherwise: profile.defaultAction },
      ...(rules.has(number + 1) ? [] : [{ from: bit + number + 1, verdict: number >= highest ? beyond : profile.defaultAction, wide }]),
    ];
  });
  return rules.has(0) ? found : [{ from: bit, verdict: highest < 0 ? beyond : profile.defaultAction, wide }, ...found];
}

/** Neighbours with the same verdict are one. */
const merged = (all: readonly Span[]): readonly Span[] =>
  all.filter((span, index) => index === 0 || typeof span.verdict !== 'number' || all[index - 1]?.verdict !== span.verdict);

/** Binary search: the kernel runs the filter for every system call. */
function search(program: Program, all: readonly Span[]): void {
  const [first] = all;
  if (all.length === 1 && first !== undefined) return leaf(program, first);
  const half = Math.ceil(all.length / 2);
  const [left, right] = [all.slice(0, half), all.slice(half)];
  const [lower, upper] = [program.label(), program.label()];
  program.jump('atLeast', right[0]?.from ?? 0, { isFalse: lower });
  program.go(upper);
  program.place(lower);
  search(program, left);
  program.place(upper);
  search(program, right);
}

function leaf(program: Program, { verdict, wide, otherwise = killThread }: Span): void {
  if (typeof verdict === 'number') return program.return(verdict);
  for (const rule of verdict) {
    const next = program.label();
    for (const condition of rule.conditions) check(program, condition, { wide, next });
    program.return(rule.action);
    program.place(next);
  }
  program.return(otherwise);
}

/** Goes to `next` unless the condition holds. */
function check(program: Program, { index, op, value, valueTwo }: Condition, { wide, next }: { readonly wide: boolean; readonly next: Label }): void {
  const low = argumentsOffset + 8 * index;
  const [lower, upper] = [halves(value), halves(valueTwo)];
  const holds = program.label();
  if (op === 'SCMP_CMP_MASKED_EQ') {
    if (wide)
      program
        .load(low + 4)
        .and(lower.high)
        .jump('equal', upper.high, { isFalse: next });
    program.load(low).and(lower.low).jump('equal', upper.low, { isFalse: next });
    return;
  }
  if (wide) {
    program.load(low + 4);
    if (op === 'SCMP_CMP_GT' || op === 'SCMP_CMP_GE') program.jump('greater', lower.high, { isTrue: holds });
    if (op === 'SCMP_CMP_LT' || op === 'SCMP_CMP_LE') program.jump('greater', lower.high, { isTrue: next });
    program.jump('equal', lower.high, { isFalse: op === 'SCMP_CMP_NE' || op === 'SCMP_CMP_LT' || op === 'SCMP_CMP_LE' ? holds : next });
  }
  program.load(low);
  program.jump(...lowTests[op](lower.low, next));
  program.place(holds);
}

type Test = 'equal' | 'greater' | 'atLeast';

const lowTests: Readonly<Record<Exclude<Condition['op'], 'SCMP_CMP_MASKED_EQ'>, (value: number, next: Label) => readonly [Test, number, Targets]>> = {
  SCMP_CMP_EQ: (value, next) => ['equal', value, { isFalse: next }],
  SCMP_CMP_NE: (value, next) => ['equal', value, { isTrue: next }],
  SCMP_CMP_GT: (value, next) => ['greater', value, { isFalse: next }],
  SCMP_CMP_GE: (value, next) => ['atLeast', value, { isFalse: next }],
  SCMP_CMP_LT: (value, next) => ['atLeast', value, { isTrue: next }],
  SCMP_CMP_LE: (value, next) => ['greater', value, { isTrue: next }],
};

const halves = (value: bigint): { readonly low: number; readonly high: number } => ({
  low: Number(BigInt.asUintN(32, value)),
  high: Number(BigInt.asUintN(32, value >> 32n)),
});

interface Label {
  at: number;
}

interface Targets {
  readonly isTrue?: Label;
  readonly isFalse?: Label;
}

interface Instruction {
  readonly code: number;
  readonly value: number;
  readonly targets?: Targets;
  readonly to?: Label;
}

/** BPF_LD|BPF_W|BPF_ABS, BPF_ALU|BPF_AND|BPF_K, BPF_JMP|…|BPF_K, BPF_RET|BPF_K. */
const codes = { load: 0x20, and: 0x54, go: 0x05, equal: 0x15, greater: 0x25, atLeast: 0x35, return: 0x06 } as const;
/** BPF_MAXINSNS. */
const mostInstructions = 4096;

class Program {
  readonly #instructions: Instruction[] = [];

  label(): Label {
    return { at: -1 };
  }

  place(label: Label): void {
    label.at = this.#instructions.length;
  }

  load(offset: number): this {
    return this.#add({ code: codes.load, value: offset });
  }

  and(mask: number): this {
    return this.#add({ code: codes.and, value: mask });
  }

  jump(test: Test, value: number, targets: Targets): this {
    return this.#add({ code: codes[test], value, targets });
  }

  go(to: Label): void {
    this.#add({ code: codes.go, value: 0, to });
  }

  return(action: Action): void {
    this.#add({ code: codes.return, value: action });
  }

  assemble(): Uint8Array {
    if (this.#instructions.length > mostInstructions)
      throw new RangeError(`the filter has ${this.#instructions.length} instructions, more than ${mostInstructions}`);
    const bytes = Buffer.alloc(8 * this.#instructions.length);
    this.#instructions.forEach(({ code, value, targets, to }, index) => {
      const distance = (label: Label | undefined): number => (label === undefined ? 0 : label.at - index - 1);
      bytes.writeUInt16LE(code, 8 * index);
      // Throws if the target is out of reach.
      bytes.writeUInt8(distance(targets?.isTrue), 8 * index + 2);
      bytes.writeUInt8(distance(targets?.isFalse), 8 * index + 3);
      bytes.writeUInt32LE(to === undefined ? value : distance(to), 8 * index + 4);
    });
    return bytes;
  }

  #add(instruction: Instruction): this {
    this.#instructions.push(instruction);
    return this;
  }
}
