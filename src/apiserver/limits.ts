/**
 * Every bound of the HTTP layer, in one table. What exceeds one is answered or closed, never absorbed.
 * Where Kubernetes has the same bound, its value is the default here.
 */
export interface Limits {
  /** Bytes of a request's body; more is answered 413. Kubernetes: 3 MiB. */
  readonly bodyBytes: number;
  /** Bytes of a refused body that are read and dropped so that its sender can still read the answer; then the connection is closed. */
  readonly discardedBodyBytes: number;
  /** Bytes of all header lines of a request together; more is answered 431 (HTTP/2: the stream is refused). */
  readonly headerBytes: number;
  /** Header lines of a request over HTTP/2. */
  readonly headerLines: number;
  /** Until a TLS handshake is complete; then the connection is closed. */
  readonly handshakeMs: number;
  /** Until all headers of a request have arrived (slow-loris); then 408 and close. */
  readonly headersMs: number;
  /** Until a request has arrived with its body; then 408 and close. */
  readonly receiveMs: number;
  /** Until a request that is no watch is answered; then 504. A client may ask for less with ?timeout=. Kubernetes: 60 s. */
  readonly requestMs: number;
  /** Without any byte on a connection that carries an answer its client does not read; then it is closed. */
  readonly stalledMs: number;
  /** Between requests on one connection; then it is closed. Kubernetes: 90 s. */
  readonly idleMs: number;
  /** Connections open at once; further ones are closed on arrival. */
  readonly connections: number;
  /** Requests that a client may send ahead of their answers on one HTTP/1.1 connection; then it is closed. */
  readonly pipelinedRequests: number;
  /** Streams open at once on one HTTP/2 connection; further ones are refused. Kubernetes: 250. */
  readonly streamsPerConnection: number;
  /** Megabytes that one HTTP/2 connection may hold in frames not yet sent; then it takes no new stream. */
  readonly sessionMegabytes: number;
  /**
   * Requests worked on at once by each priority, watches that are open not counted; further ones wait, and users take turns. Lists
   * and large bodies have a fiftieth as many of their own, and one user gets three quarters. Kubernetes: 400 reading and 200 writing. Here all run on one processor:
   * more would only let one user's requests get in front of another's.
   */
  readonly seats: number;
  /** Requests of each priority that wait for that; then the last ones of the user with the most are answered 429 with Retry-After. */
  readonly requestsWaiting: number;
  /** Requests of one user: arriving, waiting and worked on; further ones are answered 429. */
  readonly requestsPerUser: number;
  /** Bytes of large bodies that are here or announced at once, of all and of one user; further ones are answered 429. */
  readonly bodiesBytes: number;
  readonly bodiesBytesPerUser: number;
  /** Watches open at once; further ones are answered 429 with Retry-After. */
  readonly watches: number;
  /** Watches of one user. */
  readonly watchesPerUser: number;
  /** Bytes of events that wait for one watch's client, beyond the initial ones; then the watch is cut off. */
  readonly watchBufferBytes: number;
  /** Between two signs of life (TCP keep-alive, HTTP/2 ping) of a connection that is silent. */
  readonly probeMs: number;
  /**
   * The same of an HTTP/2 connection without requests. Sooner: one that broke the protocol was told so by Node's library, which then neither reads on nor closes it, and says
   * nothing; only a ping without an answer shows it.
   */
  readonly probeIdleMs: number;
  /** Without an answer to an HTTP/2 ping; then the connection is closed. */
  readonly probeAnswerMs: number;
  /** Bytes from which on a list is compressed for a client that takes gzip. Kubernetes: 128 KiB. */
  readonly gzipFromBytes: number;
  /** For requests under way to finish when the server stops; then they are cut off. */
  readonly stopMs: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

export const defaultLimits: Limits = {
  bodyBytes: 3 * MiB,
  discardedBodyBytes: 32 * MiB,
  headerBytes: 64 * KiB,
  headerLines: 200,
  handshakeMs: 10_000,
  headersMs: 15_000,
  receiveMs: 60_000,
  requestMs: 60_000,
  stalledMs: 60_000,
  idleMs: 90_000,
  connections: 10_000,
  pipelinedRequests: 1_000,
  streamsPerConnection: 250,
  sessionMegabytes: 64,
  seats: 200,
  requestsWaiting: 2_000,
  requestsPerUser: 1_000,
  bodiesBytes: 256 * MiB,
  bodiesBytesPerUser: 64 * MiB,
  watches: 20_000,
  watchesPerUser: 10_000,
  watchBufferBytes: 8 * MiB,
  probeMs: 30_000,
  probeIdleMs: 5_000,
  probeAnswerMs: 15_000,
  gzipFromBytes: 128 * KiB,
  stopMs: 10_000,
};

/** Of 429 responses. */
export const retryAfterSeconds = 1;
