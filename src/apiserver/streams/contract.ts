export type { PodStreams } from '../../streams/contract.ts';
