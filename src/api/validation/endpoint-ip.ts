import { type FieldError, invalid } from '../field-error.ts';
import { type IpAddress, isIpv4, parseIp } from './ip.ts';

/** An address that traffic can be sent to: none that means this machine, this link, or nothing. */
export function validateEndpointIp(text: string, field: string): FieldError[] {
  const ip = parseIp(text);
  if (ip === undefined) return [invalid(field, text, 'must be a valid IP address')];
  const errors: FieldError[] = [];
  if (isUnspecified(ip)) errors.push(invalid(field, text, `may not be unspecified (${text})`));
  if (isLoopback(ip)) errors.push(invalid(field, text, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'));
  if (isLinkLocalUnicast(ip)) errors.push(invalid(field, text, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'));
  if (isLinkLocalMulticast(ip)) errors.push(invalid(field, text, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'));
  return errors;
}

const short = (ip: IpAddress): readonly number[] => (isIpv4(ip) ? ip.bytes.slice(-4) : ip.bytes);
const isUnspecified = (ip: IpAddress): boolean => short(ip).every((byte) => byte === 0);

function isLoopback(ip: IpAddress): boolean {
  const bytes = short(ip);
  return isIpv4(ip) ? bytes[0] === 127 : bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
}

function isLinkLocalUnicast(ip: IpAddress): boolean {
  const [first = 0, second = 0] = short(ip);
  return isIpv4(ip) ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80;
}

function isLinkLocalMulticast(ip: IpAddress): boolean {
  const [first = 0, second = 0, third = 0] = short(ip);
  return isIpv4(ip) ? first === 224 && second === 0 && third === 0 : first === 0xff && (second & 0x0f) === 0x02;
}
