/** An image of PostgreSQL, made of Debian's package: the installed one, or what scripts/setup unpacked into .tools/. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../moor-process.ts';
import { type ImageParts, programsLayer } from './archives.ts';

/** Where the package's files lie; undefined: there is none, or this machine lacks a library that it needs. */
export const postgresqlPackage = (): { readonly at: string; readonly version: string } | undefined =>
  ['/', path.join(root, '.tools/postgresql')]
    .flatMap((at) => namesIn(path.join(at, 'usr/lib/postgresql')).map((version) => ({ at, version })))
    .find(({ at, version }) => {
      const program = path.join(at, 'usr/lib/postgresql', version, 'bin/postgres');
      return existsSync(program) && !librariesOf([program], at).includes('not found');
    });

/** What ldd says of programs whose own libraries may lie with them. */
function librariesOf(programs: readonly string[], at: string): string {
  const own = namesIn(path.join(at, 'usr/lib')).filter((name) => name.endsWith('-linux-gnu'));
  const LD_LIBRARY_PATH = own.map((name) => path.join(at, 'usr/lib', name)).join(':');
  return execFileSync('ldd', programs, { encoding: 'utf8', env: { ...process.env, LD_LIBRARY_PATH } });
}

const namesIn = (directory: string): readonly string[] => (existsSync(directory) ? readdirSync(directory) : []);

/** What the official image's entrypoint does, in short: a cluster is made where there is none. */
const entrypoint = (bin: string): string => `#!/bin/sh
set -e
[ -s "$PGDATA/PG_VERSION" ] || ${bin}/initdb -D "$PGDATA" -U postgres --auth=trust --locale=C --encoding=UTF8 >/dev/null
# As the official one: fsGroup has opened the directory to the group, which PostgreSQL refuses.
chmod 700 "$PGDATA"
exec ${bin}/postgres -D "$PGDATA" -k /tmp -c listen_addresses='*'
`;

export function postgresqlImage({ at, version }: NonNullable<ReturnType<typeof postgresqlPackage>>): ImageParts & { readonly bin: string } {
  const directory = mkdtempSync(path.join(tmpdir(), 'moor-postgresql-'));
  // It becomes the root of the image.
  chmodSync(directory, 0o755);
  try {
    const bin = `/usr/lib/postgresql/${version}/bin`;
    // Its just-in-time compiler brings a hundred megabytes, and is optional.
    const isWanted = (file: string): boolean => !file.includes('llvmjit') && !file.endsWith('/bitcode');
    for (const part of [`usr/lib/postgresql/${version}`, `usr/share/postgresql/${version}`])
      cpSync(path.join(at, part), path.join(directory, part), { recursive: true, filter: isWanted });
    cpSync('/bin/chmod', path.join(directory, 'bin/chmod'), { dereference: true });
    const programs = readdirSync(path.join(directory, bin)).map((name) => path.join(directory, bin, name));
    const listed = librariesOf(programs, at);
    for (const library of new Set(Array.from(listed.matchAll(/(?:=> |^\s+)(\/\S+) \(/gm), ([, file = '']) => file))) {
      const target = path.join(directory, path.relative(library.startsWith(`${at}/`) ? at : '/', library));
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, readFileSync(library), { mode: 0o755 });
    }
    writeFileSync(path.join(directory, 'entrypoint'), entrypoint(bin), { mode: 0o755 });
    const layer = execFileSync('tar', ['--owner=0', '--group=0', '-C', directory, '-cf', '-', '.'], { maxBuffer: 2 ** 30 });
    const config = { Entrypoint: ['/entrypoint'], Env: [`PATH=${bin}:/bin`, 'PGDATA=/var/lib/postgresql/data/pg'], User: 'app', StopSignal: 'SIGINT' };
    return { name: 'postgres', layers: [programsLayer(), layer], config, bin };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
