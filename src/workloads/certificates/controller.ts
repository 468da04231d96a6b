import { certificateSigningRequestKind as requestKind } from '../../api/kinds/certificates/certificate-signing-request.ts';
import type { Client } from '../../machinery/client.ts';
import type { Informers } from '../../machinery/informers.ts';
import { type Controller, source } from '../../machinery/loop.ts';
import { type Action, perform, type Sign } from './actions.ts';
import { decideRequest, type Snapshot } from './decide.ts';

export interface CertificatesOptions {
  readonly client: Client;
  readonly informers: Informers;
  readonly sign: Sign | undefined;
}

/** Approves, signs and removes requests for certificates. Keys are their names. */
export function certificates({ client, informers, sign }: CertificatesOptions): Controller<string, Snapshot, Action> {
  const requests = informers.cache(requestKind);
  return {
    name: 'certificates',
    sources: [source(requestKind, ({ after }) => (after?.metadata.name === undefined ? [] : [after.metadata.name]))],
    snapshot(name) {
      const request = requests.getKey(name);
      return request === undefined ? undefined : { request, signs: sign !== undefined };
    },
    decide: decideRequest,
    perform: (action) => perform(action, { client, sign }),
    parallelism: 5,
    backoff: { firstMs: 200, longestMs: 1_000_000 },
  };
}
