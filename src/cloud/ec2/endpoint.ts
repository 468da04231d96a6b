import { isSignedWith, parseAuthorization } from '../../aws/signature-v4.ts';
import type { Cloud } from '../engine/cloud.ts';
import { CloudError } from '../engine/errors.ts';
import { accountId } from '../engine/network.ts';
import type { Action } from './actions/action.ts';
import { catalogueActions } from './actions/catalogue.ts';
import { instanceActions } from './actions/instances.ts';
import { launchTemplateActions } from './actions/launch-templates.ts';
import { snapshotActions } from './actions/snapshots.ts';
import { volumeActions } from './actions/volumes.ts';
import { readParameters } from './parameters.ts';
import { answerText, errorText, stsErrorText, stsIdentityText } from './xml.ts';

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Ec2EndpointOptions {
  readonly cloud: Cloud;
  readonly newRequestId: () => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Access key → secret. Absent: any signature will do, as long as it is one. */
  readonly keys?: ReadonlyMap<string, string> | undefined;
}

const allActions: Readonly<Record<string, Action>> = {
  ...catalogueActions,
  ...instanceActions,
  ...launchTemplateActions,
  ...snapshotActions,
  ...volumeActions,
};

/** EC2's version of its API, which every request names. */
const version = '2016-11-15';
const stsVersion = '2011-06-15';
/** How far the clocks of a client may be off. */
const skewMs = 15 * 60 * 1000;

/** The HTTP status of EC2's codes; 400 is that of all others. */
const statuses: Readonly<Record<string, number>> = {
  AuthFailure: 401,
  DryRunOperation: 412,
  InternalError: 500,
  InsufficientInstanceCapacity: 500,
  MissingAuthenticationToken: 403,
  RequestExpired: 400,
  RequestLimitExceeded: 503,
  SignatureDoesNotMatch: 403,
  UnauthorizedOperation: 403,
};

/** EC2 (and STS, as far as clients ask who they are) behind one address. Rejects with LostAnswer if the connection has to end without an answer. */
export class Ec2Endpoint {
  readonly #options: Ec2EndpointOptions;

  constructor(options: Ec2EndpointOptions) {
    this.#options = options;
  }

  async handle(request: HttpRequest): Promise<HttpAnswer> {
    const requestId = this.#options.newRequestId();
    const form = new URLSearchParams(request.method === 'POST' ? request.body : (request.path.split('?')[1] ?? ''));
    const isSts = form.get('Version') === stsVersion;
    try {
      this.#authenticate(request);
      const body = isSts ? this.#sts(form, request, requestId) : await this.#ec2(form, requestId);
      return { status: 200, headers: { 'content-type': 'text/xml;charset=UTF-8', 'x-amzn-requestid': requestId }, body };
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      const text = (isSts ? stsErrorText : errorText)(error.code, error.message, requestId);
      return { status: statuses[error.code] ?? 400, headers: { 'content-type': 'text/xml;charset=UTF-8', 'x-amzn-requestid': requestId }, body: text };
    }
  }

  async #ec2(form: URLSearchParams, requestId: string): Promise<string> {
    const name = form.get('Action') ?? '';
    if (name === '') throw new CloudError('MissingAction', 'The request is missing an action.');
    const action = Object.hasOwn(allActions, name) ? allActions[name] : undefined;
    if (form.get('Version') !== version || action === undefined) throw new CloudError('InvalidAction', `The action ${name} is not valid for this web service.`);
    const { cloud } = this.#options;
    const parameters = readParameters(name, form);
    const isDryRun = parameters.boolean('DryRun') ?? false;
    const decide = action(parameters, cloud);
    parameters.refuseUnread();
    return answerText(name, await cloud.ask(name, decide, isDryRun), requestId);
  }

  #sts(form: URLSearchParams, request: HttpRequest, requestId: string): string {
    const name = form.get('Action') ?? '';
    if (name !== 'GetCallerIdentity') throw new CloudError('InvalidAction', `Could not find operation ${name} for version ${stsVersion}`);
    const userId = parseAuthorization(request.headers.authorization)?.accessKeyId ?? '';
    return stsIdentityText({ account: accountId, userId, arn: `arn:aws:iam::${accountId}:user/mooring` }, requestId);
  }

  /** @throws CloudError */
  #authenticate({ method, path, headers, body }: HttpRequest): void {
    const { keys, cloud, now } = this.#options;
    const { authorization: header } = headers;
    if (header === undefined) throw new CloudError('MissingAuthenticationToken', 'Request is missing Authentication Token');
    const authorization = parseAuthorization(header);
    if (authorization === undefined) throw new CloudError('IncompleteSignature', 'Authorization header is not a complete Signature Version 4.');
    const { region } = authorization.scope;
    // STS has one endpoint for all regions; whichever was signed for, the caller is the same.
    if (region !== cloud.region.name && authorization.scope.service === 'ec2')
      throw new CloudError('SignatureDoesNotMatch', `Credential should be scoped to a valid region, not '${region}'. This cloud is ${cloud.region.name}.`);
    if (keys === undefined) return;
    const secret = keys.get(authorization.accessKeyId);
    if (secret === undefined) throw new CloudError('AuthFailure', 'AWS was not able to validate the provided access credentials');
    const time = (headers['x-amz-date'] ?? '').replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
    if (!(Math.abs(Date.parse(time) - now()) <= skewMs)) throw new CloudError('RequestExpired', 'Request has expired.');
    const text = 'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.';
    if (!isSignedWith(secret, { method, path, headers, body }, authorization)) throw new CloudError('SignatureDoesNotMatch', text);
  }
}
