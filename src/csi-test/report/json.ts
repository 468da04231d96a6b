import { specificationVersion } from '../clauses.ts';
import type { Report } from './result.ts';

export const jsonReport = (report: Report): string => `${JSON.stringify({ specification: `CSI ${specificationVersion}`, ...report }, undefined, 2)}\n`;
