import type { MutatingWebhook, ServiceReference, ValidatingWebhook } from '../../../api/generated/types.ts';
import { ApiError, statusErrors } from '../../../api/status.ts';
import type { World } from '../../../world/world.ts';
import type { AdmissionRequest } from '../chain.ts';
import type { VersionedObjects } from '../matching/attributes.ts';
import type { WebhookAnswer, WebhookCall, WebhookCaller } from './caller.ts';
import { ReviewError, reviewOf, reviewVersion, type AdmissionResponse, admissionResponseOf } from './review.ts';
import type { ServiceResolver } from './service-resolver.ts';

/** The call failed, or the response is no AdmissionReview: the failurePolicy decides. */
export class CallError extends Error {
  constructor(webhook: string, why: string) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${why}`);
    this.name = 'CallError';
  }
}

type Webhook = ValidatingWebhook | MutatingWebhook;

export interface WebhookReview {
  readonly request: AdmissionRequest;
  readonly versioned: VersionedObjects;
  readonly mutating: boolean;
}

/** Calls webhooks, each within its timeoutSeconds. */
export class WebhookClient {
  readonly #caller: WebhookCaller | undefined;
  readonly #services: ServiceResolver;
  readonly #world: World;

  constructor(options: { readonly caller: WebhookCaller | undefined; readonly services: ServiceResolver; readonly world: World }) {
    this.#caller = options.caller;
    this.#services = options.services;
    this.#world = options.world;
  }

  /** @throws CallError, ApiError */
  async review(webhook: Webhook, { request, versioned, mutating }: WebhookReview): Promise<AdmissionResponse> {
    if (request.dryRun) refuseDryRun(webhook);
    const version = reviewVersion(webhook.admissionReviewVersions ?? []);
    if (version === undefined) {
      throw new CallError(webhook.name, 'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)');
    }
    const uid = this.#world.random.uuid();
    const body = Buffer.from(JSON.stringify(reviewOf(request, versioned, { version, uid })));
    try {
      return admissionResponseOf(await this.#call(webhook, body), { version, uid, mutating });
    } catch (error) {
      if (error instanceof ReviewError) throw new CallError(webhook.name, error.message);
      throw error;
    }
  }

  /** @throws ReviewError */
  async #call({ clientConfig, timeoutSeconds = 10 }: Webhook, body: Uint8Array): Promise<WebhookAnswer> {
    const { service } = clientConfig;
    const url = `${service === undefined ? withPath(clientConfig.url ?? '') : serviceUrl(service)}?timeout=${timeoutSeconds}s`;
    const trusted = (clientConfig.caBundle ?? '') === '' ? undefined : Buffer.from(clientConfig.caBundle ?? '', 'base64').toString();
    const failed = (error: unknown) =>
      new ReviewError(`failed to call webhook: Post ${JSON.stringify(url)}: ${error instanceof Error ? error.message : String(error)}`);
    try {
      const dial = service === undefined ? undefined : await this.#services.resolve(service);
      return await this.#inTime(timeoutSeconds, { url, dial, trusted, body });
    } catch (error) {
      throw failed(error);
    }
  }

  async #inTime(seconds: number, call: Omit<WebhookCall, 'signal'>): Promise<WebhookAnswer> {
    const caller = this.#caller;
    if (caller === undefined) throw new Error('there is no network here');
    const controller = new AbortController();
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = this.#world.timers.after(seconds * 1_000, () => {
        reject(new Error('context deadline exceeded'));
        controller.abort();
      });
    });
    try {
      return await Promise.race([caller.post({ ...call, signal: controller.signal }), late]);
    } finally {
      cancel();
    }
  }
}

/** A webhook with side effects does not support dry run. @throws ApiError 400 */
function refuseDryRun({ name, sideEffects }: Webhook): void {
  if (sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return;
  if (sideEffects === null) throw new CallError(name, 'Webhook SideEffects is nil');
  throw statusErrors.badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
}

const serviceUrl = ({ namespace, name, path = '', port = 443 }: ServiceReference): string =>
  `https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? path : `/${path}`}`;

const withPath = (url: string): string => (/^https:\/\/[^/]+$/.test(url) ? `${url}/` : url);

/** The client's error for a failed call. */
export const callFailure = (error: CallError): ApiError =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${error.message}`, { causes: [{ message: error.message }] });
