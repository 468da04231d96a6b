import type { ApiResponse } from '../../api.ts';
import type { Call } from '../registry.ts';

/** The response to a POST that creates no object. */
export const created = ({ warnings }: Call): ApiResponse => ({
  type: 'status',
  status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
  warnings: [...warnings],
});
