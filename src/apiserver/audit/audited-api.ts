import { requestPath } from '../../api/request-info.ts';
import { ApiError } from '../../api/status.ts';
import type { Api, ApiRequest, ApiResponse, OpenWatch } from '../api.ts';
import { type Authorizer, forbiddenError } from '../authorization/authorizer.ts';
import { plainJson } from '../render/accept.ts';
import type { Auditor } from './auditor.ts';
import { responseText } from './recorded-objects.ts';
import type { AuditContext } from './audit-context.ts';

/**
 * As `authorizedApi`, with audit: requests of controllers and nodes in the server's own process are in the audit log like those over HTTP,
 * but without a source address.
 */
export function auditedApi(api: Api, authorizer: Authorizer, auditor: Auditor): Api {
  return {
    handle: async (request) => {
      const auditContext = auditor.begin({ requestUri: uriOf(request), userAgent: request.userAgent, sourceIps: [] });
      const { user, info } = request;
      auditContext.setRequestInfo(info);
      auditContext.setUser(user);
      try {
        const decision = await authorizer.authorize(user, info);
        auditContext.setAuthorization(decision);
        if (!decision.allowed) throw forbiddenError(user, info, decision.reason);
        auditContext.setRequest(request);
        return await recordResponse(auditContext, await api.handle({ ...request, annotate: auditContext.annotate }));
      } catch (error) {
        recordFailure(auditContext, error);
        throw error;
      }
    },
  };
}

function uriOf({ info, query }: ApiRequest): string {
  const path = requestPath(info);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

export function recordFailure(auditContext: AuditContext, error: unknown): void {
  if (!(error instanceof ApiError)) {
    auditContext.panic(error instanceof Error ? error.message : String(error));
    return;
  }
  const status = error.toStatus();
  auditContext.setStatus(status);
  if (auditContext.wantsResponse) auditContext.setResponse(JSON.stringify(status));
  auditContext.responseComplete(error.code);
}

async function recordResponse(auditContext: AuditContext, response: ApiResponse): Promise<ApiResponse> {
  if (response.type === 'watch') return recordedWatch(auditContext, response);
  if (response.type === 'status') auditContext.setStatus(response.status);
  if (auditContext.wantsResponse) auditContext.setResponse(await responseText(response, { rendition: plainJson, includeObject: 'None', now: 0 }));
  auditContext.responseComplete(codeOf(response));
  return response;
}

function codeOf(response: Exclude<ApiResponse, { type: 'watch' }>): number {
  if (response.type === 'list') return 200;
  return response.type === 'status' ? response.status.code : response.code;
}

function recordedWatch(auditContext: AuditContext, response: Extract<ApiResponse, { type: 'watch' }>): ApiResponse {
  return {
    ...response,
    start(sink): OpenWatch {
      auditContext.responseStarted(200);
      const watch = response.start({
        events: (batch) => sink.events(batch),
        end: (status) => {
          auditContext.responseComplete(200);
          sink.end(status);
        },
        ...(sink.drained === undefined ? {} : { drained: () => sink.drained?.() ?? Promise.resolve() }),
      });
      return {
        stop() {
          auditContext.responseComplete(200);
          watch.stop();
        },
      };
    },
  };
}
