/** The seccomp filter of a container. */
import type { Container, Pod, SeccompProfile } from '../../api/generated/types.ts';
import { compileFilter } from '../seccomp/compile.ts';
import type { Profile } from '../seccomp/profile.ts';
import { type ProfileConditions, ProfileError, readProfile } from '../seccomp/profile-file.ts';
import { runtimeDefault } from '../seccomp/runtime-default.ts';
import { boundingSet } from './capabilities.ts';

export interface SeccompOptions {
  readonly machine: string;
  readonly kernelVersion: string;
  readonly seccompDefault: boolean;
  /** The content of a file below the node's directory of profiles. Rejects with the reason that it cannot be read. */
  readonly readProfileFile: (localhostProfile: string) => Promise<Uint8Array>;
}

/** `filter`: base64 of struct sock_filter[]; undefined: unconfined. */
export type SeccompFilter = { readonly ok: true; readonly filter: string | undefined } | { readonly ok: false; readonly error: string };

const unconfined: SeccompFilter = { ok: true, filter: undefined };

/** The container's profile comes before the pod's. A privileged container has no filter. */
export async function seccompFilter(pod: Pod, { securityContext = {} }: Container, options: SeccompOptions): Promise<SeccompFilter> {
  const fallback: SeccompProfile = { type: options.seccompDefault ? 'RuntimeDefault' : 'Unconfined' };
  const { type, localhostProfile = '' } = securityContext.seccompProfile ?? pod.spec.securityContext?.seccompProfile ?? fallback;
  if (type === 'Unconfined' || securityContext.privileged === true) return unconfined;
  const { machine, kernelVersion } = options;
  const conditions = { machine, kernelVersion, capabilities: new Set(boundingSet(securityContext).map((name) => `CAP_${name}`)) };
  if (type === 'RuntimeDefault') return compiled(runtimeDefault(conditions), machine);
  try {
    return compiled(await localProfile(localhostProfile, conditions, options), machine);
  } catch (error) {
    return { ok: false, error: `${(error as Error).message} (securityContext.seccompProfile.localhostProfile)` };
  }
}

function compiled(profile: Profile, machine: string): SeccompFilter {
  const filter = compileFilter(profile, machine);
  return filter === undefined
    ? { ok: false, error: `seccomp is not supported on ${machine} (securityContext.seccompProfile)` }
    : { ok: true, filter: Buffer.from(filter).toString('base64') };
}

/** With containerd's messages (contrib/seccomp, WithProfile). */
async function localProfile(name: string, conditions: ProfileConditions, { readProfileFile }: SeccompOptions): Promise<Profile> {
  const content = await readProfileFile(name).catch((error: unknown) => {
    throw new Error(`cannot load seccomp profile ${JSON.stringify(name)}: ${(error as Error).message}`, { cause: error });
  });
  try {
    return readProfile(content, conditions);
  } catch (error) {
    if (error instanceof ProfileError) throw new Error(`decoding seccomp profile failed ${JSON.stringify(name)}: ${error.message}`, { cause: error });
    throw error;
  }
}
