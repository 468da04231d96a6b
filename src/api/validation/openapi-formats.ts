import { parseGoDuration } from '../go-duration.ts';
import { isIpv4, parseCidr, parseIp } from './ip.ts';

/** Formats of strings that Kubernetes knows, by their names without dashes; an unknown format is not checked. */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  uri: (text) => text.startsWith('/') || URL.canParse(text),
  email: (text) => /^(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+>?$/.test(text),
  hostname: (text) => text.length <= 255 && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/i.test(text),
  ipv4: (text) => isAddress(text, 4),
  ipv6: (text) => isAddress(text, 6),
  cidr: (text) => parseCidr(text) !== undefined,
  mac: (text) => /^([0-9a-f]{2}([:-])[0-9a-f]{2}(\2[0-9a-f]{2}){4}((\2[0-9a-f]{2}){2}|(\2[0-9a-f]{2}){14})?|[0-9a-f]{4}(\.[0-9a-f]{4}){2,3})$/i.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid3: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uuid4: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  uuid5: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text),
  rgbcolor: isRgbColor,
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text),
  k8slongname: (text) => text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text),
};

const normalized = (format: string): string => format.replaceAll('-', '');

/** Whether a format says anything about values of a type. */
export function isKnownFormat(format: string, type = ''): boolean {
  switch (type) {
    case '':
    case 'string':
      return Object.hasOwn(checks, normalized(format));
    case 'integer':
      return format === 'int32' || format === 'int64';
    case 'number':
      return format === 'float' || format === 'double';
    default:
      return false;
  }
}

/** Whether a text has a format. */
export function hasFormat(text: string, format: string): boolean {
  const name = normalized(format);
  return !Object.hasOwn(checks, name) || (checks[name]?.(text) ?? true);
}

/** As Go reads them: no octet begins with a zero. */
function isAddress(text: string, version: 4 | 6): boolean {
  const ip = parseIp(text);
  return ip !== undefined && !ip.leadingZeros && (version === 4 ? isIpv4(ip) && text.includes('.') : text.includes(':'));
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce((total, digit, i) => total + (i + 1) * (digit === 'X' ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  return Array.from(digits).reduce((total, digit, i) => total + (i % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '');
  if (!/^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/.test(digits)) return false;
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, i) => {
      const value = Number(digit) * (i % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  const parts = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text);
  return parts !== null && parts.slice(1).every((part) => Number(part) <= 255);
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // A day that the month does not have rolls over into the next one.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$/.test(text) && isDate(text.slice(0, 10)) && Number(text.slice(11, 13)) < 24;
}

/** Go's, or a number and a unit in words. */
function isDuration(text: string): boolean {
  if (parseGoDuration(text).problem === undefined) return true;
  return /^(\d+)\s*(nanoseconds?|nanos?|ns|microseconds?|micros?|us|milliseconds?|millis?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|wks?|w)$/.test(
    text,
  );
}
