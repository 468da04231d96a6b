/** The formats of other strings and numbers; as in names.ts, each function says what is wrong with a value. */
import { SUBDOMAIN_MAX_LENGTH } from './names.ts';
import { byteLength, mismatch, mustNotBeEmpty, outOfRange, tooManyCharacters } from './text.ts';

const configMapKeyFormat = '[-._a-zA-Z0-9]+';
const percentFormat = '[0-9]+%';
const httpHeaderNameFormat = '[-A-Za-z0-9]+';
const httpPathFormat = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

const whole = (format: string): RegExp => new RegExp(`^${format}$`);
const configMapKey = whole(configMapKeyFormat);
const percent = whole(percentFormat);
const httpHeaderName = whole(httpHeaderNameFormat);
const httpPath = whole(httpPathFormat);

const configMapKeyMessage = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
const relaxedEnvVarNameMessage = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const percentMessage = "a valid percent string must be a numeric string followed by an ending '%'";
const httpHeaderNameMessage = "a valid HTTP header must consist of alphanumeric characters or '-'";

/** A key of a ConfigMap or Secret. */
export function configMapKeyProblems(value: string): string[] {
  const wrong = byteLength(value) > SUBDOMAIN_MAX_LENGTH ? [tooManyCharacters(SUBDOMAIN_MAX_LENGTH)] : [];
  if (!configMapKey.test(value)) wrong.push(mismatch(configMapKeyMessage, configMapKeyFormat, 'key.name', 'KEY_NAME', 'key-name'));
  return [...wrong, ...parentDirectoryProblems(value)];
}

/** What Kubernetes accepts as a name of an environment variable since 1.34: anything printable in ASCII but '='. */
export function relaxedEnvVarNameProblems(value: string): string[] {
  const wrong = value === '' ? [`environment variable name ${mustNotBeEmpty}`] : [];
  if (!/^[\x20-\x3c\x3e-\x7e]*$/.test(value)) wrong.push(relaxedEnvVarNameMessage);
  return wrong;
}

function parentDirectoryProblems(value: string): string[] {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}

export function portNumberProblems(port: number): string[] {
  return port >= 1 && port <= 65535 ? [] : [outOfRange(1, 65535)];
}

export function rangeProblems(value: number, low: number, high: number): string[] {
  return value >= low && value <= high ? [] : [outOfRange(low, high)];
}

const MAX_ID = 2 ** 31 - 1;
/** A user's or a group's number. */
export const userOrGroupIdProblems = (id: number): string[] => rangeProblems(id, 0, MAX_ID);

export function portNameProblems(name: string): string[] {
  const wrong = byteLength(name) > 15 ? [tooManyCharacters(15)] : [];
  if (!/^[-a-z0-9]+$/.test(name)) wrong.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) wrong.push('must contain at least one letter (a-z)');
  if (name.includes('--')) wrong.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) wrong.push('must not begin or end with a hyphen');
  return wrong;
}

export function percentProblems(value: string): string[] {
  return percent.test(value) ? [] : [mismatch(percentMessage, percentFormat, '1%', '93%')];
}

export function httpHeaderNameProblems(value: string): string[] {
  return httpHeaderName.test(value) ? [] : [mismatch(httpHeaderNameMessage, httpHeaderNameFormat, 'X-Header-Name')];
}

/** Characters that a path of a URL may have. */
export const httpPathProblem = (path: string): string | undefined => (httpPath.test(path) ? undefined : mismatch('Invalid path', httpPathFormat));
