import { type ApiError, statusErrors } from '../../api/status.ts';

/** The node has no kubelet that serves streams. */
export const noKubelet = (node: string): ApiError => statusErrors.badRequest(`nothing runs on node ${node}: it is hollow, or its agent cannot be reached`);
