import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The built page: index.html, one script and one style sheet, whose names have the hash of their content. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** The name changes with the content. */
  readonly immutable: boolean;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** By name. @throws if the directory cannot be read: the page was not built */
export function readPageFiles(directory: string): ReadonlyMap<string, PageFile> {
  const found = readdirSync(directory).filter((name) => types[path.extname(name)] !== undefined);
  return new Map(
    found.map((name) => [name, { type: types[path.extname(name)] ?? '', bytes: readFileSync(path.join(directory, name)), immutable: name !== 'index.html' }]),
  );
}

/** Nothing from elsewhere, no inline script, no text that becomes markup. */
export const securityHeaders: readonly string[] = [
  'content-security-policy',
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'cross-origin-opener-policy',
  'same-origin',
  'cross-origin-resource-policy',
  'same-origin',
];
