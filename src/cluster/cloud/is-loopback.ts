import { isIPv4 } from 'node:net';

/** An endpoint that takes any signature, and a metadata service that tells user data, are for the machine alone. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
