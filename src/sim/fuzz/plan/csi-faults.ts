import type { CallFault } from '../../drivers/csi/call-faults.ts';

/** Faults of CSI drivers behind sockets, and of those who call them. */
export type CsiFault =
  /** At the driver's next call after `calls` others. Without `node`: of its controller. */
  | { readonly kind: 'csi-call'; readonly at: number; readonly driver: string; readonly node?: string; readonly calls: number; readonly fault: CallFault }
  /** The driver disappears from a machine, with its sockets, and comes back. */
  | { readonly kind: 'csi-gone'; readonly at: number; readonly driver: string; readonly node: string; readonly forMs: number }
  /** Its controller is down. */
  | { readonly kind: 'csi-down'; readonly at: number; readonly driver: string; readonly forMs: number }
  /** Who makes the call is killed. */
  | { readonly kind: 'csi-kill-caller'; readonly at: number; readonly calls: number; readonly moment: 'before' | 'after'; readonly backMs: number };

export const isCsiFault = (fault: { readonly kind: string }): fault is CsiFault => fault.kind.startsWith('csi-');
