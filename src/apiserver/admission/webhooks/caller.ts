/** Sends requests to webhooks over HTTPS. */
export interface WebhookCaller {
  /** @throws Error in Go's words */
  post(call: WebhookCall): Promise<WebhookAnswer>;
  /** Closes idle connections. */
  stop(): void;
}

export interface WebhookCall {
  /** 'https://127.0.0.1:8443/validate?timeout=10s' */
  readonly url: string;
  /** The address to dial, if the URL's host is the name of a Service. */
  readonly dial: { readonly host: string; readonly port: number } | undefined;
  /** The CA bundle for the webhook's certificate, PEM; undefined: the system's. */
  readonly trusted: string | undefined;
  readonly body: Uint8Array;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
}

export interface WebhookAnswer {
  readonly status: number;
  /** '': none. */
  readonly contentType: string;
  readonly body: Uint8Array;
}
