/** Profiles of `Localhost`: files in the format of the runtime-spec, or Docker's with `archMap`, `includes` and `excludes`. */
import { isJsonObject, JsonError, JsonNumber, readJson } from '../../api/json.ts';
import { architectureNames } from './architectures.ts';
import { actions, type Condition, EPERM, type Operator, operators, type Profile, type Rule, rulesOf } from './profile.ts';

/** The file is no profile, or asks for what this runtime cannot do. The message says where. */
export class ProfileError extends Error {}

export interface ProfileConditions {
  /** The machine's GOARCH. */
  readonly machine: string;
  /** '6.1.0-18-amd64' */
  readonly kernelVersion: string;
  /** The container's bounding set: 'CAP_CHOWN' … */
  readonly capabilities: ReadonlySet<string>;
}

/** @throws ProfileError */
export function readProfile(bytes: Uint8Array, conditions: ProfileConditions): Profile {
  let value: unknown;
  try {
    ({ value } = readJson(bytes, { exactNumbers: true }));
  } catch (error) {
    if (error instanceof JsonError) throw new ProfileError(error.message);
    throw error;
  }
  const profile = new Fields(value, '');
  const given = profile.numberAt('defaultErrnoRet') ?? EPERM;
  const result: Profile = {
    defaultAction: actionOf(profile.text('defaultAction'), given, 'defaultAction'),
    architectures: [...new Set([...architecturesIn(profile, 'architectures'), ...profile.objects('archMap').flatMap(mapped)])],
    rules: profile.objects('syscalls').flatMap((syscall) => rulesIn(syscall, conditions)),
  };
  profile.optionalTexts('flags').forEach((flag) => {
    // TSYNC: a container begins with one thread. SPEC_ALLOW: without it, the kernel protects more.
    if (!harmlessFlags.has(flag)) throw new ProfileError(`flags: ${JSON.stringify(flag)} is not supported`);
  });
  profile.onlyThese('defaultAction', 'defaultErrnoRet', 'architectures', 'archMap', 'syscalls', 'flags');
  return result;
}

const harmlessFlags = new Set(['SECCOMP_FILTER_FLAG_TSYNC', 'SECCOMP_FILTER_FLAG_SPEC_ALLOW']);

function actionOf(name: string, data: number, at: string) {
  const action = actions[name];
  if (action !== undefined && Object.hasOwn(actions, name)) return action(data);
  const why = name === 'SCMP_ACT_NOTIFY' ? 'is not supported: there is no seccomp agent here' : 'is not an action';
  throw new ProfileError(`${at}: ${JSON.stringify(name)} ${why}`);
}

function architecturesIn(fields: Fields, name: string): readonly string[] {
  const names = fields.optionalTexts(name);
  const unknown = names.find((each) => !architectureNames.has(each));
  if (unknown !== undefined) throw new ProfileError(`${fields.path(name)}: ${JSON.stringify(unknown)} is not an architecture`);
  return names;
}

function mapped(fields: Fields): readonly string[] {
  const own = fields.text('architecture');
  if (!architectureNames.has(own)) throw new ProfileError(`${fields.path('architecture')}: ${JSON.stringify(own)} is not an architecture`);
  const others = architecturesIn(fields, 'subArchitectures');
  fields.onlyThese('architecture', 'subArchitectures');
  return [own, ...others];
}

function rulesIn(syscall: Fields, conditions: ProfileConditions): readonly Rule[] {
  const action = actionOf(syscall.text('action'), syscall.numberAt('errnoRet') ?? EPERM, syscall.path('action'));
  const args = syscall.objects('args').map(conditionOf);
  const single = syscall.optionalText('name');
  const names = [...(single === undefined ? [] : [single]), ...syscall.optionalTexts('names')];
  const [includes, excludes] = [syscall.object('includes'), syscall.object('excludes')];
  syscall.onlyThese('names', 'name', 'action', 'errnoRet', 'args', 'includes', 'excludes', 'comment');
  // Of `includes` everything holds, of `excludes` nothing does.
  const applies =
    (includes === undefined || filters(includes, conditions).every(Boolean)) && (excludes === undefined || !filters(excludes, conditions).some(Boolean));
  return applies ? names.flatMap((name) => rulesOf(name, action, args)) : [];
}

/** Which of the given filters hold (moby: profiles/seccomp). */
function filters(fields: Fields, { machine, kernelVersion, capabilities }: ProfileConditions): readonly boolean[] {
  const [caps, arches, minKernel] = [fields.optionalTexts('caps'), fields.optionalTexts('arches'), fields.optionalText('minKernel')];
  fields.onlyThese('caps', 'arches', 'minKernel');
  return [
    ...(arches.length === 0 ? [] : [arches.includes(machine)]),
    ...caps.map((name) => capabilities.has(name)),
    ...(minKernel === undefined ? [] : [isAtLeast(kernelVersion, minKernel)]),
  ];
}

export function isAtLeast(version: string, least: string): boolean {
  const parts = (text: string) => (/^(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number);
  const [[major = 0, minor = 0], [leastMajor = 0, leastMinor = 0]] = [parts(version), parts(least)];
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

function conditionOf(fields: Fields): Condition {
  const op = fields.text('op');
  const index = fields.unsigned('index');
  if (!isOperator(op)) throw new ProfileError(`${fields.path('op')}: ${JSON.stringify(op)} is not an operator`);
  if (index > 5n) throw new ProfileError(`${fields.path('index')}: a system call has no argument ${index}`);
  const condition = { index: Number(index), op, value: fields.unsigned('value'), valueTwo: fields.unsigned('valueTwo') };
  fields.onlyThese('index', 'value', 'valueTwo', 'op');
  return condition;
}

const isOperator = (text: string): text is Operator => operators.some((each) => each === text);

/** An object of the file. Every field is read, or the profile is refused. */
class Fields {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #at: string;

  constructor(value: unknown, at: string) {
    if (!isJsonObject(value)) throw new ProfileError(`${at === '' ? 'the profile' : at} must be an object`);
    this.#fields = value;
    this.#at = at;
  }

  path(name: string): string {
    return this.#at === '' ? name : `${this.#at}.${name}`;
  }

  text(name: string): string {
    const text = this.optionalText(name);
    if (text === undefined) throw new ProfileError(`${this.path(name)} is required`);
    return text;
  }

  optionalText(name: string): string | undefined {
    const value = this.#fields[name];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw new ProfileError(`${this.path(name)} must be a string`);
    return value;
  }

  optionalTexts(name: string): readonly string[] {
    return this.#list(name).map((value, index) => {
      if (typeof value !== 'string') throw new ProfileError(`${this.path(name)}[${index}] must be a string`);
      return value;
    });
  }

  object(name: string): Fields | undefined {
    const value = this.#fields[name];
    return value === undefined || value === null ? undefined : new Fields(value, this.path(name));
  }

  objects(name: string): readonly Fields[] {
    return this.#list(name).map((value, index) => new Fields(value, `${this.path(name)}[${index}]`));
  }

  /** An unsigned integer of 64 bits; absent: 0. */
  unsigned(name: string): bigint {
    const value = this.#fields[name];
    if (value === undefined || value === null) return 0n;
    const text = value instanceof JsonNumber ? value.text : typeof value === 'number' ? String(value) : '';
    const number = /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
    if (number === undefined || number >= 2n ** 64n) throw new ProfileError(`${this.path(name)} must be an unsigned integer of 64 bits`);
    return number;
  }

  /** The number of an error: at most 16 bits. */
  numberAt(name: string): number | undefined {
    if ((this.#fields[name] ?? undefined) === undefined) return undefined;
    const number = this.unsigned(name);
    if (number > 0xffffn) throw new ProfileError(`${this.path(name)} must be at most 65535`);
    return Number(number);
  }

  onlyThese(...names: readonly string[]): void {
    const unknown = Object.keys(this.#fields).find((name) => !names.includes(name));
    if (unknown !== undefined) throw new ProfileError(`${this.path(unknown)}: this field is not supported`);
  }

  #list(name: string): readonly unknown[] {
    const value = this.#fields[name];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw new ProfileError(`${this.path(name)} must be a list`);
    return value as readonly unknown[];
  }
}
