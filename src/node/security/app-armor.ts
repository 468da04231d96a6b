/** AppArmor profiles of containers (pkg/security/apparmor). */
import type { AppArmorProfile, Container, Pod } from '../../api/generated/types.ts';
import { APP_ARMOR_PREFIX } from '../../api/kinds/pod/pod-annotations.ts';
import { allContainers } from '../../api/kinds/pod/pod-parts.ts';
import { appArmorProfileOf } from '../../api/kinds/pod/pod-strategy.ts';
import type { Refusal } from './host-security.ts';

/** The profile that a container asks for; undefined: none. The deprecated annotation comes after the container's own field. */
export function appArmorProfile({ metadata, spec }: Pod, { name, securityContext }: Container): AppArmorProfile | undefined {
  const annotation = metadata.annotations?.[APP_ARMOR_PREFIX + name];
  return securityContext?.appArmorProfile ?? (annotation === undefined ? undefined : appArmorProfileOf(annotation)) ?? spec.securityContext?.appArmorProfile;
}

/** The kubelet's reason to reject the pod on a node without AppArmor; undefined: there is none. */
export function unenforceableAppArmor(pod: Pod): Refusal | undefined {
  const isAsked = ({ type = 'Unconfined' }: Partial<AppArmorProfile> = {}) => type !== 'Unconfined';
  const isRequired =
    isAsked(pod.spec.securityContext?.appArmorProfile) || allContainers(pod.spec, '').some(({ container }) => isAsked(appArmorProfile(pod, container)));
  return isRequired ? { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' } : undefined;
}

/** The name that containerd gives its default profile. */
const defaultProfile = 'cri-containerd.apparmor.d';

/** The name of the profile that confines a container; undefined: none does. */
export function appArmorName({ type, localhostProfile }: AppArmorProfile, isPrivileged: boolean): string | undefined {
  if (type === 'Localhost') return localhostProfile;
  return type === 'RuntimeDefault' && !isPrivileged ? defaultProfile : undefined;
}
