import { parseCertificateRequest } from '../../api/x509/certificate-request.ts';
import type { KeyPair } from '../../apiserver/certificates/certificate-files.ts';
import type { Sign } from '../../controllers/cluster/certificates/actions.ts';
import type { Clock } from '../../world/world.ts';

/** Signs with the cluster's certificate authority. The X.509 library is loaded with the first request. */
export function certificateSigner(authority: KeyPair, clock: Clock): Sign {
  return async ({ spec }) => {
    const parsed = parseCertificateRequest(spec.request);
    if (!parsed.ok) throw new Error(parsed.error);
    const { signCsr: signRequest } = await import('../../apiserver/certificates/sign-csr.ts');
    const { usages = [], expirationSeconds } = spec;
    return Buffer.from(await signRequest(parsed.request, { usages, expirationSeconds, now: clock.now() }, authority)).toString('base64');
  };
}
