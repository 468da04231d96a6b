/**
 * What a node makes of a pod's securityContext: every field is honoured, or the pod is refused, in the place where a kubelet or a runtime refuses it.
 * `security-context.test.ts` goes through the fields of the API's schema.
 */
import type { Container, Pod, SELinuxOptions, WindowsSecurityContextOptions } from '../../api/generated/types.ts';
import { appArmorName, appArmorProfile, unenforceableAppArmor } from './app-armor.ts';
import { capabilityProblem } from './capabilities.ts';
import type { HostSecurity, Refusal } from './host-security.ts';
import { forbiddenSysctl } from './sysctls.ts';

/** Why the node rejects the pod for good; undefined: it does not. `security` undefined: nothing runs on the node. */
export function securityRejection(pod: Pod, kernelVersion: string, security: HostSecurity | undefined): Refusal | undefined {
  if (security === undefined) return undefined;
  const forbidden = forbiddenSysctl(pod, { kernelVersion, allowedUnsafeSysctls: security.allowedUnsafeSysctls });
  return forbidden ?? (security.appArmorProfiles === undefined ? unenforceableAppArmor(pod) : undefined);
}

/** Why the pod gets no sandbox, as the kubelet puts it (pkg/kubelet/userns); undefined: it does. */
export function sandboxProblem({ spec }: Pod): string | undefined {
  if (spec.hostUsers === false) return "can't set `spec.hostUsers: false`, runtime does not support user namespaces";
  if ((spec.resourceClaims ?? []).length > 0) return "can't prepare `spec.resourceClaims`, runtime does not support devices of resource.k8s.io";
  return undefined;
}

/** Why the container waits instead of being created; undefined: it can be created. */
export function containerProblem(pod: Pod, container: Container, security: HostSecurity & { readonly hasOwnUser?: boolean }): Refusal | undefined {
  const violation = nonRootViolation(pod, container, security.hasOwnUser === true);
  if (violation !== undefined) return { reason: 'CreateContainerConfigError', message: violation };
  const own = container.securityContext ?? {};
  const ofPod = pod.spec.securityContext ?? {};
  const problem =
    capabilityProblem(own, security.capabilities) ??
    windowsProblem(own.windowsOptions) ??
    windowsProblem(ofPod.windowsOptions) ??
    (security.isSELinuxEnabled ? (seLinuxProblem(own.seLinuxOptions) ?? seLinuxProblem(ofPod.seLinuxOptions)) : undefined) ??
    appArmorProblem(pod, container, security);
  return problem === undefined ? undefined : { reason: 'CreateContainerError', message: problem };
}

/** The kubelet's error for a `runAsNonRoot` container that would run as root; undefined: there is none. */
function nonRootViolation({ metadata, spec }: Pod, { name, securityContext: own = {} }: Container, hasOwnUser: boolean): string | undefined {
  const nonRoot = own.runAsNonRoot ?? spec.securityContext?.runAsNonRoot;
  const uid = own.runAsUser ?? spec.securityContext?.runAsUser;
  if (nonRoot !== true || (uid !== undefined && uid !== 0) || (uid === undefined && hasOwnUser)) return undefined;
  const who = `(pod: "${metadata.name ?? ''}_${metadata.namespace ?? ''}(${metadata.uid ?? ''})", container: ${name})`;
  return uid === 0 ? `container's runAsUser breaks non-root policy ${who}` : `container has runAsNonRoot and image will run as root ${who}`;
}

/** A kubelet on Linux ignores these options; here a pod learns that they have no effect. */
function windowsProblem(options: WindowsSecurityContextOptions | undefined): string | undefined {
  const [given] = Object.entries(options ?? {}).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [name]));
  return given === undefined ? undefined : `securityContext.windowsOptions.${given}: windows options cannot be set for a pod on a linux node`;
}

/** Where the kernel enforces labels, a pod that asks for one does not run without. */
function seLinuxProblem(options: SELinuxOptions | undefined): string | undefined {
  const given = givenLabel(options);
  return given === undefined ? undefined : `securityContext.seLinuxOptions.${given}: the runtime sets no SELinux labels`;
}

/** The event of a pod whose labels have no effect, because the kernel has no SELinux: as with containerd it runs. undefined: it asks for none. */
export function unenforcedLabel({ spec }: Pod, { isSELinuxEnabled }: HostSecurity): string | undefined {
  const contexts = [spec, ...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ securityContext }) => securityContext);
  const given = contexts.map((context) => givenLabel(context?.seLinuxOptions)).find((each) => each !== undefined);
  if (isSELinuxEnabled || given === undefined) return undefined;
  return `securityContext.seLinuxOptions.${given} has no effect: SELinux is not enabled on the node`;
}

function givenLabel(options: SELinuxOptions | undefined): string | undefined {
  return Object.entries(options ?? {}).find(([, value]) => value !== undefined && value !== '')?.[0];
}

function appArmorProblem(pod: Pod, container: Container, { appArmorProfiles }: HostSecurity): string | undefined {
  const asked = appArmorProfile(pod, container);
  const name = asked === undefined ? undefined : appArmorName(asked, container.securityContext?.privileged === true);
  if (name === undefined || appArmorProfiles?.includes(name) === true) return undefined;
  return `failed to generate apparmor spec opts: apparmor profile not found ${name} (securityContext.appArmorProfile)`;
}
