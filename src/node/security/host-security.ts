/** What confines containers on a node, and what its administrator permits. */
export interface HostSecurity {
  /** The kernel's AppArmor profiles; undefined: it has no AppArmor. */
  readonly appArmorProfiles: readonly string[] | undefined;
  /** Whether the kernel enforces SELinux labels; the runtime sets none. */
  readonly isSELinuxEnabled: boolean;
  /** The capabilities that containers can have, as `capabilities.ts` names them. */
  readonly capabilities: readonly string[];
  /** Containers without a seccompProfile run under RuntimeDefault (the kubelet's --seccomp-default). */
  readonly seccompDefault: boolean;
  /** Kernel parameters that pods may set besides the safe ones: 'kernel.msg*'. */
  readonly allowedUnsafeSysctls: readonly string[];
}

/** Why a pod or a container does not run, in the kubelet's words. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}
