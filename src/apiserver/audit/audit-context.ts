import { isJsonObject } from '../../api/json.ts';
import type { RequestInfo } from '../../api/request-info.ts';
import { labelKeyProblems } from '../../api/validation/names.ts';
import type { Status } from '../../api/status.ts';
import type { Clock } from '../../world/world.ts';
import type { Annotate, ApiRequest, User } from '../api.ts';
import type { AuthorizationDecision } from '../authorization/authorizer.ts';
import { eventLine, type ObjectReference, type AuditEvent, objectReferenceOf } from './event.ts';
import { type AuditPolicy, type RequestAuditConfig, evaluatePolicyRule, type AuditStage } from './policy.ts';
import { bodyValue, withoutManagedFields } from './recorded-objects.ts';

export interface AuditRequest {
  readonly auditId: string;
  /** Path and query as sent. */
  readonly requestUri: string;
  readonly userAgent: string;
  readonly sourceIps: readonly string[];
}

export interface AuditContextOptions {
  readonly policy: AuditPolicy;
  readonly clock: Clock;
  readonly write: (line: string) => void;
}

/**
 * The audit context of one request: it collects the request's facts as they become known, and writes a line of the log for each stage that
 * the policy records. The policy is evaluated once user and request info are known.
 */
export class AuditContext {
  readonly #options: AuditContextOptions;
  readonly #event: AuditEvent;
  #config: RequestAuditConfig | undefined;
  #requestInfo: RequestInfo | undefined;
  #over = false;

  constructor(arrival: AuditRequest, options: AuditContextOptions) {
    this.#options = options;
    this.#event = {
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

  /** Whether `setResponse` is of any use. */
  get wantsResponse(): boolean {
    return this.#config?.level === 'RequestResponse';
  }

  setRequestInfo(info: RequestInfo): void {
    this.#requestInfo = info;
    this.#event.verb = info.verb;
    this.#event.objectRef = objectReferenceOf(info);
  }

  setUser(user: User): void {
    this.#event.user = user;
    this.#consultPolicy();
    this.#write('RequestReceived');
  }

  setImpersonatedUser(user: User): void {
    this.#event.impersonatedUser = user;
  }

  setAuthorization(decision: AuthorizationDecision): void {
    const { annotations } = this.#event;
    annotations['authorization.k8s.io/decision'] = decision.allowed ? 'allow' : 'forbid';
    annotations['authorization.k8s.io/reason'] = decision.reason ?? '';
  }

  /** For admission. As in v1.36.4, a key has a prefix, and its first value stays. */
  readonly annotate: Annotate = (key, value, level = 'Metadata') => {
    const { annotations } = this.#event;
    if (this.#config === undefined || (level === 'Request' && this.#config.level === 'Metadata')) return;
    if (key.split('/').length !== 2 || labelKeyProblems(key).length > 0 || Object.hasOwn(annotations, key)) return;
    annotations[key] = value;
  };

  setRequest(request: ApiRequest): void {
    const level = this.#config?.level;
    if (level === undefined || request.body.type === 'none') return;
    const patch = request.info.verb === 'patch';
    if (level === 'Metadata' && patch) return;
    const value = bodyValue(request.body);
    if (value === undefined) return;
    if (!patch) this.#completeReference(value);
    if (level !== 'Metadata') this.#event.requestObject = JSON.stringify(this.#trimmed(value, patch));
  }

  /** As JSON. */
  setResponse(json: string): void {
    this.#event.responseObject = this.#config?.omitManagedFields === true ? JSON.stringify(withoutManagedFields(JSON.parse(json))) : json;
  }

  setStatus({ status, message, reason, details, code }: Status): void {
    this.#event.responseStatus = { status, ...(message && { message }), ...(reason && { reason }), ...(details && { details }), code };
  }

  /** A watch begins. */
  responseStarted(code: number): void {
    this.#setCode(code);
    this.#write('ResponseStarted');
  }

  responseComplete(code: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#setCode(code);
    // Kubernetes records a client that is not authenticated once, at ResponseStarted.
    if (this.#event.user === undefined) {
      this.#consultPolicy();
      this.#write('ResponseStarted');
      return;
    }
    if (this.#requestInfo?.verb === 'watch' && code >= 400) this.#write('ResponseStarted');
    this.#write('ResponseComplete');
  }

  panic(cause: string): void {
    this.#event.responseStatus = { status: 'Failure', message: `APIServer panic'd: ${cause}`, reason: 'InternalError', code: 500 };
    this.#write('Panic');
    this.#over = true;
  }

  #consultPolicy(): void {
    if (this.#requestInfo === undefined) return;
    this.#config = evaluatePolicyRule(this.#options.policy, this.#event.user, this.#requestInfo);
    this.#event.level = this.#config?.level ?? 'None';
  }

  /** The body has fields that the path has not. */
  #completeReference(object: unknown): void {
    const metadata = isJsonObject(object) ? object['metadata'] : undefined;
    const reference = this.#event.objectRef;
    if (reference === undefined || !isJsonObject(metadata)) return;
    const or = (known: string, field: keyof ObjectReference): string => known || (typeof metadata[field] === 'string' ? metadata[field] : '');
    this.#event.objectRef = {
      ...reference,
      namespace: or(reference.namespace, 'namespace'),
      name: or(reference.name, 'name'),
      uid: or('', 'uid'),
      resourceVersion: or('', 'resourceVersion'),
    };
  }

  #trimmed(value: unknown, patch: boolean): unknown {
    return this.#config?.omitManagedFields === true && !patch ? withoutManagedFields(value) : value;
  }

  #setCode(code: number): void {
    this.#event.responseStatus = { ...this.#event.responseStatus, code };
  }

  #write(stage: AuditStage): void {
    if (this.#config === undefined || this.#config.omitStages.has(stage)) return;
    const { clock, write } = this.#options;
    write(eventLine(this.#event, stage, stage === 'RequestReceived' ? this.#event.received : clock.now()));
  }
}
