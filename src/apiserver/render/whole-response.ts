import type { ApiResponse } from '../api.ts';

/** A response that is complete at once; a watch is answered event by event. */
export type WholeResponse = Exclude<ApiResponse, { type: 'watch' }>;
