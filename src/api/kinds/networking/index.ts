import { untypedKind, type Kind } from '../../kind.ts';
import { ingressClassKind } from './ingress-class.ts';
import { ingressKind } from './ingress.ts';
import { networkPolicyKind } from './network-policy.ts';

/** Stored and served for external controllers: Mooring has none that acts upon them. */
export const networkingKinds: readonly Kind[] = [untypedKind(ingressKind), untypedKind(ingressClassKind), untypedKind(networkPolicyKind)];
