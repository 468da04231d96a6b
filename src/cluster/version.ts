import { readFileSync } from 'node:fs';

/** Mooring's own version, from package.json. */
export const version: string = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;

/** The Kubernetes whose behaviour, fields and messages are served. */
export const kubernetesVersion = '1.36.4';
