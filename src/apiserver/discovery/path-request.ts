import type { Body } from '../render/body.ts';

/** A request for something that is no resource. */
export interface PathRequest {
  /** Percent-encoded as sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  header(name: string): string | undefined;
}

export interface PathAnswer {
  readonly code: number;
  /** Name and value in turn; names in lower case. */
  readonly headers: readonly string[];
  readonly body: Body;
}
