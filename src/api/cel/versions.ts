/** semver(), as Kubernetes adds it to the language (v1.36.4: apiserver/pkg/cel/library/semverlib.go). */
import type { Environment } from '@marcbachmann/cel-js';

class CelVersion {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly before: readonly string[];
  constructor(numbers: readonly [bigint, bigint, bigint], before: readonly string[]) {
    this.numbers = numbers;
    this.before = before;
  }
}

const type = 'kubernetes.Semver';

export function registerVersions(environment: Environment): void {
  environment
    .registerType(type, { ctor: CelVersion, fields: {} })
    .registerFunction(`semver(string): ${type}`, (text: string) => read(text))
    .registerFunction(`semver(string, bool): ${type}`, (text: string, normalize: boolean) => read(normalize ? normalized(text) : text))
    .registerFunction('isSemver(string): bool', (text: string) => parse(text) !== undefined)
    .registerFunction('isSemver(string, bool): bool', (text: string, normalize: boolean) => parse(normalize ? normalized(text) : text) !== undefined)
    .registerFunction(`${type}.major(): int`, ({ numbers }: CelVersion) => numbers[0])
    .registerFunction(`${type}.minor(): int`, ({ numbers }: CelVersion) => numbers[1])
    .registerFunction(`${type}.patch(): int`, ({ numbers }: CelVersion) => numbers[2])
    .registerFunction(`${type}.compareTo(${type}): int`, (a: CelVersion, b: CelVersion) => BigInt(compare(a, b)))
    .registerFunction(`${type}.isLessThan(${type}): bool`, (a: CelVersion, b: CelVersion) => compare(a, b) < 0)
    .registerFunction(`${type}.isGreaterThan(${type}): bool`, (a: CelVersion, b: CelVersion) => compare(a, b) > 0)
    .registerOperator(`${type} == ${type}`, (a: CelVersion, b: CelVersion) => compare(a, b) === 0);
}

const number = '(0|[1-9][0-9]{0,18})';
const identifier = '(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)';
const pattern = new RegExp(`^${number}\\.${number}\\.${number}(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`);
/** Longer texts are refused. */
const MAX_LENGTH = 1_024;

function parse(text: string): CelVersion | undefined {
  const found = text.length > MAX_LENGTH ? null : pattern.exec(text);
  if (found === null) return undefined;
  const [, major = '0', minor = '0', patch = '0', before = ''] = found;
  return new CelVersion([BigInt(major), BigInt(minor), BigInt(patch)], before === '' ? [] : before.split('.'));
}

function read(text: string): CelVersion {
  const version = parse(text);
  if (version === undefined) throw new Error(text === '' ? 'Version string empty' : problemOf(text));
  return version;
}

function problemOf(text: string): string {
  return text.split('.').length < 3 ? 'No Major.Minor.Patch elements found' : `Invalid character(s) found in version ${JSON.stringify(text)}`;
}

/** Without a leading v and leading zeros; missing numbers are 0. */
function normalized(text: string): string {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(rest.length === 0 ? [] : [rest.join('.')])].map(withoutZeros);
  if (parts.length >= 3) return parts.join('.');
  // A shortened version has no pre-release and build.
  if (/[+-]/.test(parts.at(-1) ?? '')) return '';
  return [...parts, '0', '0'].slice(0, 3).join('.');
}

function withoutZeros(part: string): string {
  if (part.length < 2) return part;
  const bare = part.replace(/^0+/, '');
  return /^[0-9]/.test(bare) ? bare : `0${bare}`;
}

function compare(a: CelVersion, b: CelVersion): number {
  for (const [i, left] of a.numbers.entries()) {
    const right = b.numbers[i] ?? 0n;
    if (left !== right) return left < right ? -1 : 1;
  }
  // A pre-release is less than its release.
  if (a.before.length === 0 || b.before.length === 0) return Math.sign(Number(a.before.length === 0) - Number(b.before.length === 0));
  for (const [i, left] of a.before.entries()) {
    const right = b.before[i];
    if (right === undefined) return 1;
    const order = compareIdentifiers(left, right);
    if (order !== 0) return order;
  }
  return a.before.length < b.before.length ? -1 : 0;
}

function compareIdentifiers(a: string, b: string): number {
  const [x, y] = [/^[0-9]+$/.test(a), /^[0-9]+$/.test(b)];
  if (x !== y) return x ? -1 : 1;
  if (x) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  return a < b ? -1 : a > b ? 1 : 0;
}
