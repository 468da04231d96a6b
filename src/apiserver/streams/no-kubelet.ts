import { type ApiError, statusErrors } from '../../api/status.ts';

/** Why nothing can be had of a node's pods. */
export const noKubelet = (node: string): ApiError => statusErrors.badRequest(`nothing runs on node ${node}: it is hollow, or its agent cannot be reached`);
