import { untypedKind, type Kind } from '../../kind.ts';
import { ingressClassKind } from './ingress-class.ts';
import { ingressKind } from './ingress.ts';
import { ipAddressKind } from './ip-address.ts';
import { networkPolicyKind } from './network-policy.ts';
import { serviceCidrKind } from './service-cidr.ts';

/** Ingresses, their classes and network policies are stored and served for external controllers: Mooring has none that acts upon them. */
export const networkingKinds: readonly Kind[] = [
  untypedKind(ingressKind),
  untypedKind(ingressClassKind),
  untypedKind(networkPolicyKind),
  untypedKind(ipAddressKind),
  untypedKind(serviceCidrKind),
];
