import { ApiError } from '../../api/status.ts';
import type { Answer, StreamSink, Transport, TransportRequest } from '../../client/transport.ts';
import type { Api, ApiRequest, ApiResponse, OpenWatch, User, WatchEvent } from '../../apiserver/api.ts';

/**
 * Reaches the API server of this process: the requests of HTTP without its bytes. Objects pass by reference and are frozen. The user is given
 * once, and authorized like any other.
 */
export function createInProcessTransport(api: Api, user: User, userAgent: string): Transport {
  const toApi = (request: TransportRequest): ApiRequest => ({
    info: request.info,
    query: request.query,
    user,
    userAgent,
    body: request.body === undefined ? { type: 'none' } : { type: 'object', ...request.body },
    ...(request.fence === undefined ? {} : { fence: request.fence }),
  });
  return {
    async send(request) {
      try {
        return toAnswer(await api.handle(toApi(request)));
      } catch (error) {
        return error instanceof ApiError ? { type: 'failed', error } : { type: 'unreachable', error: asError(error) };
      }
    },
    watch: (request, sink) => openWatch(api.handle(toApi(request)), sink),
  };
}

function toAnswer(response: ApiResponse): Answer {
  switch (response.type) {
    case 'object':
      return { type: 'object', object: response.stored.object };
    case 'list':
      return { type: 'list', items: response.items.map((stored) => stored.object), metadata: response.metadata };
    case 'status':
      return { type: 'status', status: response.status };
    case 'plain':
      return { type: 'object', object: response.object };
    case 'watch':
      return { type: 'unreachable', error: new Error('a watch was opened as a plain request') };
  }
}

/** The watch opens when the API server has answered; until then it can only be closed. */
function openWatch(answer: Promise<ApiResponse>, sink: StreamSink): { close(): void } {
  let closed = false;
  let open: OpenWatch | undefined;
  const end = (error: ApiError | undefined) => {
    if (closed) return;
    closed = true;
    sink.end(error);
  };
  answer.then(
    (response) => {
      if (closed) return;
      if (response.type !== 'watch') return end(new ApiError(500, 'InternalError', 'the server did not answer with a watch'));
      open = response.start({
        events: (batch) => {
          if (!closed) sink.events(batch.map(toStreamEvent));
        },
        end: (status) => end(status === undefined ? undefined : new ApiError(status.code, status.reason ?? '', status.message ?? '', status.details)),
      });
      // The sink closed it during its first events, before `open` was assigned.
      if (closed) open.stop();
    },
    (error: unknown) => end(error instanceof ApiError ? error : undefined),
  );
  return {
    close() {
      closed = true;
      open?.stop();
    },
  };
}

const toStreamEvent = (event: WatchEvent) => ({ type: event.type, object: event.stored.object });

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
