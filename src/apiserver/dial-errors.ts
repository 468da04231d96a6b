interface DialTarget {
  /** host:port */
  readonly address: string;
  readonly named: string;
}

/** Why a connection failed, with the message of Go's net package, as in the logs of an API server. */
export function goDialError(error: Error & { code?: string; reason?: string }, { address, named }: DialTarget): string {
  const unverified = 'tls: failed to verify certificate: x509:';
  switch (error.code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}: connect: connection refused`;
    case 'EHOSTUNREACH':
      return `dial tcp ${address}: connect: no route to host`;
    case 'ENETUNREACH':
      return `dial tcp ${address}: connect: network is unreachable`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${named}: no such host`;
    case 'ECONNRESET':
      return 'EOF';
    case 'ETIMEDOUT':
      return `dial tcp ${address}: i/o timeout`;
    // It has no certificate yet.
    case 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE':
    case 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE':
      return 'remote error: tls: internal error';
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return 'http: server gave HTTP response to HTTPS client';
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_SIGNATURE_FAILURE':
      return `${unverified} certificate signed by unknown authority`;
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `${unverified} certificate has expired or is not yet valid`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${unverified} ${hostnameMismatch(error.reason ?? '', named)}`;
    default:
      return error.message;
  }
}

function hostnameMismatch(reason: string, named: string): string {
  const names = [...reason.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, name]) => name);
  return names.length === 0
    ? `certificate is not valid for any names, but wanted to match ${named}`
    : `certificate is valid for ${names.join(', ')}, not ${named}`;
}
