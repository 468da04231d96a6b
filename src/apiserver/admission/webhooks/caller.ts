/** How webhooks are reached: over HTTPS where there is a network, and not at all where there is none. */
export interface WebhookCaller {
  /** @throws Error that says, in Go's words, why there is no answer */
  post(call: WebhookCall): Promise<WebhookAnswer>;
  /** Gives back what is kept open. */
  stop(): void;
}

export interface WebhookCall {
  /** 'https://127.0.0.1:8443/validate?timeout=10s' */
  readonly url: string;
  /** Where it really is, if the URL's host is but a name for it: a service. */
  readonly dial: { readonly host: string; readonly port: number } | undefined;
  /** Certificates in PEM that the webhook's must come from; undefined: those that everybody trusts. */
  readonly trusted: string | undefined;
  readonly body: Uint8Array;
  /** Aborted when the answer is no longer waited for. */
  readonly signal: AbortSignal;
}

export interface WebhookAnswer {
  readonly status: number;
  /** '': it says none. */
  readonly contentType: string;
  readonly body: Uint8Array;
}
