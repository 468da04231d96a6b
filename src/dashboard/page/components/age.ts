import { humanDuration } from '../../../api/printer-columns.ts';
import { browserWorld } from '../api/browser-world.ts';

/** As kubectl shows it: '5m', '3d4h'. '': unknown. */
export const age = (timestamp: string): string => (timestamp === '' ? '' : humanDuration(browserWorld.clock.now() - Date.parse(timestamp)));
