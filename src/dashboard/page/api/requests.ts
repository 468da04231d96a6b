import { ApiError, type Status } from '../../../api/status.ts';
import { session, sessionIsOver } from './session.ts';
import { connection } from './connection.ts';

export interface PageRequest extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request of the page, with its session. @throws ApiError for a refusal, TypeError if there is no answer */
export async function send(path: string, init: PageRequest = {}): Promise<Response> {
  const { token } = session.value ?? {};
  let response: Response;
  try {
    response = await fetch(path, {
      ...init,
      headers: { accept: 'application/json', ...init.headers, ...(token === undefined ? {} : { 'mooring-session': token }) },
    });
  } catch (error) {
    if (init.signal?.aborted !== true) connection.value = 'lost';
    throw error;
  }
  connection.value = 'live';
  if (response.ok) return response;
  if (response.status === 401) sessionIsOver();
  throw errorOf(response.status, await response.text());
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await send(path, signal === undefined ? {} : { signal })).json()) as T;
}

export const errorOfStatus = (status: Partial<Status>, code = 500): ApiError =>
  new ApiError(status.code ?? code, status.reason ?? '', status.message ?? `the server answered ${code}`, status.details);

function errorOf(code: number, text: string): ApiError {
  try {
    return errorOfStatus(JSON.parse(text) as Partial<Status>, code);
  } catch {
    return new ApiError(code, '', `the server answered ${code}`);
  }
}

/** In one sentence, for the page. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
