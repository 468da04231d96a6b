import { describeStore } from '../conformance.ts';
import { openMemoryStore } from './memory-store.ts';

describeStore('memory', async () => openMemoryStore());
