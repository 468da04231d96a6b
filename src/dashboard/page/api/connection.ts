import { signal } from '@preact/signals';

/** Whether the last request had an answer. */
export const connection = signal<'live' | 'lost'>('live');
