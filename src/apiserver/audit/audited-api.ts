import { requestPath } from '../../api/request-info.ts';
import { ApiError } from '../../api/status.ts';
import type { Api, ApiRequest, ApiResponse, OpenWatch } from '../api.ts';
import { type Authorizer, forbiddenError } from '../authorization/authorizer.ts';
import { plainJson } from '../render/accept.ts';
import type { Auditor } from './auditor.ts';
import { responseText } from './recorded-objects.ts';
import type { AuditContext } from './audit-context.ts';

/**
 * As `authorizedApi`, and written down: what controllers and nodes do in the server's own process is in the audit log as if they had
 * come over HTTP, but from no address.
 */
export function auditedApi(api: Api, authorizer: Authorizer, auditor: Auditor): Api {
  return {
    handle: async (request) => {
      const trail = auditor.begin({ requestUri: uriOf(request), userAgent: request.userAgent, sourceIps: [] });
      const { user, info } = request;
      trail.setRequestInfo(info);
      trail.setUser(user);
      try {
        const decision = await authorizer.authorize(user, info);
        trail.setAuthorization(decision);
        if (!decision.allowed) throw forbiddenError(user, info, decision.reason);
        trail.setRequest(request);
        return await recordResponse(trail, await api.handle({ ...request, annotate: trail.annotate }));
      } catch (error) {
        recordFailure(trail, error);
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

export function recordFailure(trail: AuditContext, error: unknown): void {
  if (!(error instanceof ApiError)) {
    trail.panic(error instanceof Error ? error.message : String(error));
    return;
  }
  const status = error.toStatus();
  trail.setStatus(status);
  if (trail.wantsResponse) trail.setResponse(JSON.stringify(status));
  trail.responseComplete(error.code);
}

async function recordResponse(trail: AuditContext, response: ApiResponse): Promise<ApiResponse> {
  if (response.type === 'watch') return recordedWatch(trail, response);
  if (response.type === 'status') trail.setStatus(response.status);
  if (trail.wantsResponse) trail.setResponse(await responseText(response, { rendition: plainJson, includeObject: 'None', now: 0 }));
  trail.responseComplete(codeOf(response));
  return response;
}

function codeOf(response: Exclude<ApiResponse, { type: 'watch' }>): number {
  if (response.type === 'list') return 200;
  return response.type === 'status' ? response.status.code : response.code;
}

function recordedWatch(trail: AuditContext, response: Extract<ApiResponse, { type: 'watch' }>): ApiResponse {
  return {
    ...response,
    start(sink): OpenWatch {
      trail.responseStarted(200);
      const watch = response.start({
        events: (batch) => sink.events(batch),
        end: (status) => {
          trail.responseComplete(200);
          sink.end(status);
        },
        ...(sink.drained === undefined ? {} : { drained: () => sink.drained?.() ?? Promise.resolve() }),
      });
      return {
        stop() {
          trail.responseComplete(200);
          watch.stop();
        },
      };
    },
  };
}
