/** Browsers and curl get indented JSON, unless `?pretty=` decides. */
export function wantsPretty(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get('pretty') ?? '';
  if (asked !== '') return truths.has(asked);
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0');
}

/** What Go takes for true. */
const truths: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
