/**
 * What names may look like. Each function says what is wrong with a value, in Kubernetes' words; an empty list means
 * nothing is. Lengths are in bytes, as Go counts them.
 */
import { byteLength, mismatch, mustNotBeEmpty, tooManyBytes, tooManyCharacters } from './text.ts';

export const LABEL_MAX_LENGTH = 63;
export const SUBDOMAIN_MAX_LENGTH = 253;

const dns1123LabelFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dns1123SubdomainFormat = `${dns1123LabelFormat}(\\.${dns1123LabelFormat})*`;
const underscoredLabelFormat = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const underscoredSubdomainFormat = `${underscoredLabelFormat}(\\.${underscoredLabelFormat})*`;
const dns1035LabelFormat = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedNameFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValueFormat = `(${qualifiedNameFormat})?`;

const whole = (format: string): RegExp => new RegExp(`^${format}$`);
const dns1123Label = whole(dns1123LabelFormat);
const dns1123Subdomain = whole(dns1123SubdomainFormat);
const underscoredSubdomain = whole(underscoredSubdomainFormat);
const dns1035Label = whole(dns1035LabelFormat);
const qualifiedName = whole(qualifiedNameFormat);
const labelValue = whole(labelValueFormat);
/** A key that is right as a whole, if it is not longer than a prefix alone may be. */
const rightKey = new RegExp(`^(${dns1123SubdomainFormat}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`);

const labelMessage =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const subdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const underscoredSubdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
const dns1035LabelMessage =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const qualifiedNameMessage = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const labelValueMessage =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const wrongName = mismatch(qualifiedNameMessage, qualifiedNameFormat, 'MyName', 'my.name', '123-abc');

/** A DNS label: 'my-name'. */
export function dnsLabelProblems(value: string): string[] {
  const wrong = byteLength(value) > LABEL_MAX_LENGTH ? [tooManyCharacters(LABEL_MAX_LENGTH)] : [];
  if (dns1123Label.test(value)) return wrong;
  // A subdomain that is no label can only be one with dots.
  wrong.push(dns1123Subdomain.test(value) ? 'must not contain dots' : mismatch(labelMessage, dns1123LabelFormat, 'my-name', '123-abc'));
  return wrong;
}

/** Labels with dots between: 'example.com'. */
export function dnsSubdomainProblems(value: string): string[] {
  const wrong = byteLength(value) > SUBDOMAIN_MAX_LENGTH ? [tooManyCharacters(SUBDOMAIN_MAX_LENGTH)] : [];
  if (!dns1123Subdomain.test(value)) wrong.push(mismatch(subdomainMessage, dns1123SubdomainFormat, 'example.com'));
  return wrong;
}

export function underscoredSubdomainProblems(value: string): string[] {
  const wrong = byteLength(value) > SUBDOMAIN_MAX_LENGTH ? [tooManyCharacters(SUBDOMAIN_MAX_LENGTH)] : [];
  if (!underscoredSubdomain.test(value)) wrong.push(mismatch(underscoredSubdomainMessage, underscoredSubdomainFormat, 'example.com'));
  return wrong;
}

/** A label that begins with a letter: names of services. */
export function dns1035LabelProblems(value: string): string[] {
  const wrong = byteLength(value) > LABEL_MAX_LENGTH ? [tooManyCharacters(LABEL_MAX_LENGTH)] : [];
  if (!dns1035Label.test(value)) wrong.push(mismatch(dns1035LabelMessage, dns1035LabelFormat, 'my-name', 'abc-123'));
  return wrong;
}

/** A key of a label, an annotation, a finalizer, a resource: 'name' or 'example.com/name'. */
export function labelKeyProblems(value: string): string[] {
  // Nearly all keys are right, and every write looks at them several times.
  if (value.length <= SUBDOMAIN_MAX_LENGTH && rightKey.test(value)) return [];
  const parts = value.split('/');
  if (parts.length > 2) return [`a valid label key ${wrongName} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const wrong: string[] = [];
  const name = parts[parts.length - 1] ?? '';
  if (parts.length === 2) wrong.push(...prefixProblems(parts[0] ?? ''));
  if (name === '') wrong.push(`name part ${mustNotBeEmpty}`);
  else if (byteLength(name) > LABEL_MAX_LENGTH) wrong.push(`name part ${tooManyBytes(LABEL_MAX_LENGTH)}`);
  if (!qualifiedName.test(name)) wrong.push(`name part ${wrongName}`);
  return wrong;
}

function prefixProblems(prefix: string): string[] {
  if (prefix === '') return [`prefix part ${mustNotBeEmpty}`];
  const wrong = byteLength(prefix) > SUBDOMAIN_MAX_LENGTH ? [`prefix part ${tooManyBytes(SUBDOMAIN_MAX_LENGTH)}`] : [];
  if (!dns1123Subdomain.test(prefix)) wrong.push(`prefix part ${mismatch(subdomainMessage, dns1123SubdomainFormat, 'example.com')}`);
  return wrong;
}

export function labelValueProblems(value: string): string[] {
  const wrong = byteLength(value) > LABEL_MAX_LENGTH ? [tooManyBytes(LABEL_MAX_LENGTH)] : [];
  if (!labelValue.test(value)) wrong.push(mismatch(labelValueMessage, labelValueFormat, 'MyValue', 'my_value', '12345'));
  return wrong;
}

/** A name that can stand in the path of a URL and in a key of the store: the least that any name must be. */
export function pathSegmentProblems(name: string, prefix: boolean): string[] {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((illegal) => name.includes(illegal)).map((illegal) => `may not contain '${illegal}'`);
}

/** What is wrong with a name; with `prefix`, of a generateName, to which characters are still appended. */
export type ValidateName = (name: string, prefix: boolean) => string[];

export const nameIsDnsSubdomain: ValidateName = (name, prefix) => dnsSubdomainProblems(prefix ? maskTrailingDash(name) : name);
export const nameIsDnsLabel: ValidateName = (name, prefix) => dnsLabelProblems(prefix ? maskTrailingDash(name) : name);

/** A prefix may end in a dash: what is appended to it makes the name whole. Kubernetes looks at one character less. */
export function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}
