import { untypedKind, type Kind } from '../../kind.ts';
import { ingressClassKind } from './ingress-class.ts';
import { ingressKind } from './ingress.ts';
import { networkPolicyKind } from './network-policy.ts';

/** What others make of them: they are kept, and nobody here acts upon them. */
export const networkingKinds: readonly Kind[] = [untypedKind(ingressKind), untypedKind(ingressClassKind), untypedKind(networkPolicyKind)];
