/** `unknown`: the handler could not be run. */
export interface HandlerResult {
  readonly result: 'success' | 'failure' | 'unknown';
  readonly output: string;
}
