import { fileURLToPath } from 'node:url';
import type { Certificates } from '../apiserver/certificates/certificate-files.ts';
import type { Pages } from '../apiserver/http/pages.ts';
import { DashboardEndpoint } from '../dashboard/server/endpoint.ts';
import { isLoopback } from '../dashboard/server/request-checks.ts';
import { readPageFiles } from '../dashboard/server/page-files.ts';
import { Sessions } from '../dashboard/server/sessions.ts';
import type { World } from '../world/world.ts';

/** Beside the bundle of the command, as the compiler's files are. */
export const readDashboardFiles = () => readPageFiles(fileURLToPath(new URL('../ui', import.meta.url)));

export interface DashboardOptions {
  readonly listen: { readonly host: string };
  /** Further names of the server. */
  readonly hosts: readonly string[];
  /** Undefined: if the server listens on loopback. */
  readonly dashboard: boolean | undefined;
  readonly plain: boolean;
}

/** The dashboard of an API server; undefined: it serves none. */
export function openDashboard(options: DashboardOptions, { certificates, world }: { certificates: Certificates; world: World }): Pages | undefined {
  const { listen, hosts, plain, dashboard } = options;
  if (plain || dashboard === false || (dashboard === undefined && !isLoopback(listen.host) && listen.host !== 'localhost')) return undefined;
  return new DashboardEndpoint({
    files: readDashboardFiles,
    // The servers of one cluster have one authority, and know one another's sessions.
    sessions: new Sessions({ secret: certificates.authority.key, clock: world.clock }),
    reach: { hosts: [listen.host, ...hosts], beyondLoopback: dashboard === true },
    about: { readOnly: false },
  });
}
