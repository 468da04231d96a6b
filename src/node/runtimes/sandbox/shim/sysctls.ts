import type { PodSandboxSpec } from '../../../runtime.ts';
import { run } from './processes.ts';

/**
 * Kernel parameters of a pod's namespaces. /proc/sys shows a process those of its own namespaces. `namespaces`: options of nsenter(1). Resolves with the error; '':
 * none.
 */
export async function setSysctls(sysctls: NonNullable<PodSandboxSpec['sysctls']>, namespaces: readonly string[]): Promise<string> {
  for (const { path, value } of sysctls) {
    const wrong = await run(['nsenter', ...namespaces, 'sh', '-c', 'printf %s "$2" >"/proc/sys/$1"', 'sh', path, value]);
    if (wrong !== '') return `securityContext.sysctls: write sysctl key ${path.replaceAll('/', '.')}: ${wrong}`;
  }
  return '';
}
