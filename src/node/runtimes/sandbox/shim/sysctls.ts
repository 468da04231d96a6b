import type { PodSandboxSpec } from '../../../runtime.ts';
import { run } from './processes.ts';

/** Sets kernel parameters of a pod's namespaces: /proc/sys shows a process those of its own. `pause`: a process in them. Resolves with the error; '': none. */
export async function setSysctls({ sysctls = [], address, hostIpc }: PodSandboxSpec, pause: number): Promise<string> {
  const namespaces = [...(address === undefined ? [] : ['-n']), ...(hostIpc ? [] : ['-i'])];
  for (const { path, value } of sysctls) {
    const wrong = await run(['nsenter', '-t', String(pause), ...namespaces, 'sh', '-c', 'printf %s "$2" >"/proc/sys/$1"', 'sh', path, value]);
    if (wrong !== '') return `securityContext.sysctls: write sysctl key ${path.replaceAll('/', '.')}: ${wrong}`;
  }
  return '';
}
