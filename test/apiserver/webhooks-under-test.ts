import { expect } from 'vitest';
import type { WebhookCall, WebhookCaller } from '../../src/apiserver/admission/webhooks/caller.ts';
import { type ApiUnderTest, onApi } from './api-under-test.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
export const validating = `${group}/validatingwebhookconfigurations`;
export const mutating = `${group}/mutatingwebhookconfigurations`;
export const maps = '/api/v1/namespaces/default/configmaps';

/** What JSON says, as loosely as a test wants to look at it. */
export type Json = ReturnType<typeof JSON.parse>;
/** What a webhook answers: the response of its review, or, as `raw`, the whole of an answer. */
export type Behaviour = (request: Json, call: WebhookCall) => Json;

/** Webhooks by the path of their URL; every call is written down. */
export class Webhooks implements WebhookCaller {
  readonly calls: { readonly path: string; readonly url: string; readonly review: Json; readonly call: WebhookCall }[] = [];
  readonly behaviours = new Map<string, Behaviour>();
  stopped = false;

  async post(call: WebhookCall): Promise<{ status: number; contentType: string; body: Uint8Array }> {
    const path = new URL(call.url).pathname;
    const review: Json = JSON.parse(Buffer.from(call.body).toString());
    this.calls.push({ path, url: call.url, review, call });
    const behaviour = this.behaviours.get(path);
    if (behaviour === undefined) throw new Error('dial tcp 10.0.0.1:443: connect: connection refused');
    const made = await behaviour(review.request, call);
    if (made?.raw !== undefined)
      return { status: made.raw.status ?? 200, contentType: made.raw.contentType ?? 'application/json', body: Buffer.from(made.raw.body) };
    const response = { uid: review.request.uid, ...made };
    return { status: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind, response })) };
  }

  stop(): void {
    this.stopped = true;
  }
}

export const withWebhooks = (body: (api: ApiUnderTest, webhooks: Webhooks) => Promise<void>) => async (): Promise<void> => {
  const webhooks = new Webhooks();
  await onApi((api) => body(api, webhooks), 1, { webhooks })();
  expect(webhooks.stopped).toBe(true);
};

export const rule = (more: object = {}) => ({ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'], ...more });

export const hook = (name: string, more: object = {}) => ({
  name: `${name}.example.com`,
  clientConfig: { url: `https://hooks.test/${name}` },
  rules: [rule()],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});

export async function configure(api: ApiUnderTest, path: string, name: string, ...webhooks: object[]): Promise<void> {
  expect(await api.create(path, { metadata: { name }, webhooks })).toMatchObject({ code: 201 });
}

export const map = (name: string, data: Record<string, string> = {}, metadata: object = {}) => ({ metadata: { name, ...metadata }, data });
export const patchOf = (...operations: object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
export const add = (key: string, value: string) => patchOf({ op: 'add', path: `/data/${key}`, value });
export const merge = (body: object) => ({ body, contentType: 'application/merge-patch+json' });
