import { isJsonObject } from '../../api/json.ts';
import { labelKeyProblems } from '../../api/validation/names.ts';
import type { Status } from '../../api/status.ts';
import type { Clock } from '../../world/world.ts';
import type { Annotate, ApiRequest, User } from '../api.ts';
import type { Attributes, Decision } from '../auth/authorizer.ts';
import { eventLine, type ObjectReference, type Recorded, referenceOf } from './event.ts';
import { type Policy, type Recording, recordingOf, type Stage } from './policy.ts';
import { bodyValue, withoutManagedFields } from './recorded-objects.ts';

/** What is known of a request when it comes in. */
export interface Arrival {
  readonly auditId: string;
  /** Path and query as sent. */
  readonly requestUri: string;
  readonly userAgent: string;
  readonly sourceIps: readonly string[];
}

export interface TrailOptions {
  readonly policy: Policy;
  readonly clock: Clock;
  readonly write: (line: string) => void;
}

/**
 * One request as the audit log sees it: what is known of it is told here as it becomes known, and each stage that it reaches becomes a
 * line of the log, if the policy wants one. Until somebody said who asks for what there is no policy for it, and no line.
 */
export class Trail {
  readonly #options: TrailOptions;
  readonly #recorded: Recorded;
  #recording: Recording | undefined;
  #attributes: Attributes | undefined;
  #over = false;

  constructor(arrival: Arrival, options: TrailOptions) {
    this.#options = options;
    this.#recorded = {
      ...arrival,
      received: options.clock.now(),
      level: 'None',
      verb: '',
      user: undefined,
      impersonatedUser: undefined,
      objectRef: undefined,
      responseStatus: undefined,
      requestObject: undefined,
      responseObject: undefined,
      annotations: {},
    };
  }

  /** Whether `answers` is of any use. */
  get wantsAnswer(): boolean {
    return this.#recording?.level === 'RequestResponse';
  }

  /** Somebody asks for this. */
  asksFor(attributes: Attributes): void {
    this.#attributes = attributes;
    this.#recorded.verb = attributes.verb;
    this.#recorded.objectRef = referenceOf(attributes);
  }

  /** It is this user. */
  received(user: User): void {
    this.#recorded.user = user;
    this.#consultPolicy();
    this.#write('RequestReceived');
  }

  actsAs(user: User): void {
    this.#recorded.impersonatedUser = user;
  }

  decided(decision: Decision): void {
    const { annotations } = this.#recorded;
    annotations['authorization.k8s.io/decision'] = decision.allowed ? 'allow' : 'forbid';
    annotations['authorization.k8s.io/reason'] = decision.reason ?? '';
  }

  /** What admission says of it. As v1.36.4's attributes have it, a key has a prefix, and what was said stays said. */
  readonly annotates: Annotate = (key, value, level = 'Metadata') => {
    const { annotations } = this.#recorded;
    if (this.#recording === undefined || (level === 'Request' && this.#recording.level === 'Metadata')) return;
    if (key.split('/').length !== 2 || labelKeyProblems(key).length > 0 || Object.hasOwn(annotations, key)) return;
    annotations[key] = value;
  };

  /** The request with its body. */
  asked(request: ApiRequest): void {
    const level = this.#recording?.level;
    if (level === undefined || request.body.type === 'none') return;
    const patch = request.method === 'PATCH';
    if (level === 'Metadata' && patch) return;
    const value = bodyValue(request.body);
    if (value === undefined) return;
    if (!patch) this.#completeReference(value);
    if (level !== 'Metadata') this.#recorded.requestObject = JSON.stringify(this.#trimmed(value, patch));
  }

  /** The answer as JSON. */
  answers(json: string): void {
    this.#recorded.responseObject = this.#recording?.omitManagedFields === true ? JSON.stringify(withoutManagedFields(JSON.parse(json))) : json;
  }

  /** The answer is this Status. */
  says({ status, message, reason, details, code }: Status): void {
    this.#recorded.responseStatus = { status, ...(message && { message }), ...(reason && { reason }), ...(details && { details }), code };
  }

  /** A watch begins. */
  started(code: number): void {
    this.#settle(code);
    this.#write('ResponseStarted');
  }

  /** Everything is said. */
  completed(code: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#settle(code);
    // Kubernetes tells once of a client whose credentials prove nothing, when it begins to refuse it.
    if (this.#recorded.user === undefined) {
      this.#consultPolicy();
      this.#write('ResponseStarted');
      return;
    }
    if (this.#attributes?.verb === 'watch' && code >= 400) this.#write('ResponseStarted');
    this.#write('ResponseComplete');
  }

  /** The server itself failed. */
  panicked(cause: string): void {
    this.#recorded.responseStatus = { status: 'Failure', message: `APIServer panic'd: ${cause}`, reason: 'InternalError', code: 500 };
    this.#write('Panic');
    this.#over = true;
  }

  #consultPolicy(): void {
    if (this.#attributes === undefined) return;
    this.#recording = recordingOf(this.#options.policy, this.#recorded.user, this.#attributes);
    this.#recorded.level = this.#recording?.level ?? 'None';
  }

  /** A path does not say all that an object does. */
  #completeReference(object: unknown): void {
    const metadata = isJsonObject(object) ? object['metadata'] : undefined;
    const reference = this.#recorded.objectRef;
    if (reference === undefined || !isJsonObject(metadata)) return;
    const or = (known: string, field: keyof ObjectReference): string => known || (typeof metadata[field] === 'string' ? metadata[field] : '');
    this.#recorded.objectRef = {
      ...reference,
      namespace: or(reference.namespace, 'namespace'),
      name: or(reference.name, 'name'),
      uid: or('', 'uid'),
      resourceVersion: or('', 'resourceVersion'),
    };
  }

  #trimmed(value: unknown, patch: boolean): unknown {
    return this.#recording?.omitManagedFields === true && !patch ? withoutManagedFields(value) : value;
  }

  #settle(code: number): void {
    this.#recorded.responseStatus = { ...this.#recorded.responseStatus, code };
  }

  #write(stage: Stage): void {
    if (this.#recording === undefined || this.#recording.omitStages.has(stage)) return;
    const { clock, write } = this.#options;
    write(eventLine(this.#recorded, stage, stage === 'RequestReceived' ? this.#recorded.received : clock.now()));
  }
}
