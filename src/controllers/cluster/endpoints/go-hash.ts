/**
 * Kubernetes orders ports and subsets by the hash of their Go representation (pkg/api/v1/endpoints/util.go). `kubectl get endpoints`
 * shows that order, so it is reproduced here.
 */
import type { DiscoveryEndpointPort, EndpointAddress, EndpointPort, EndpointSubset, ObjectReference } from '../../../api/generated/types.ts';

const offset = 0x6c62272e07bb014262b821756295c58dn;
const prime = 0x0000000001000000000000000000013bn;
const encoder = new TextEncoder();

/** FNV-1a with 128 bits, in hex. */
export function fnv128a(text: string): string {
  let hash = offset;
  for (const byte of encoder.encode(text)) hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * prime);
  return hash.toString(16).padStart(32, '0');
}

/** A cache: the same few ports are hashed for thousands of pods. */
const known = new Map<string, string>();
const knownLimit = 1000;
const shortText = 200;

function cachedHash(text: string): string {
  if (text.length > shortText) return fnv128a(text);
  let hash = known.get(text);
  if (hash === undefined) {
    if (known.size >= knownLimit) known.clear();
    known.set(text, (hash = fnv128a(text)));
  }
  return hash;
}

/** The items in the order of their hashes. */
export function byGoHash<T>(items: readonly T[], print: (item: T) => string): T[] {
  if (items.length < 2) return [...items];
  const hashed = items.map((item) => ({ item, hash: cachedHash(print(item)) }));
  return hashed.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0)).map(({ item }) => item);
}

export const printSlicePort = ({ name = '', protocol = '', port, appProtocol }: DiscoveryEndpointPort): string =>
  `(v1.EndpointPort){Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} Port:(*int32)${port ?? '<nil>'} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`;

export const printPort = (port: EndpointPort): string => `(v1.EndpointPort)${portFields(port)}`;

const portFields = ({ name = '', port, protocol = '', appProtocol }: EndpointPort): string =>
  `{Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol ?? '<nil>'}}`;

export const printSubset = ({ addresses, notReadyAddresses, ports }: EndpointSubset): string =>
  `(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)${list(addresses, addressFields)} ` +
  `NotReadyAddresses:([]v1.EndpointAddress)${list(notReadyAddresses, addressFields)} Ports:([]v1.EndpointPort)${list(ports, portFields)}}`;

const list = <T>(items: readonly T[] | undefined, print: (item: T) => string): string => (items === undefined ? '<nil>' : `[${items.map(print).join(' ')}]`);

const addressFields = ({ ip, hostname = '', nodeName, targetRef }: EndpointAddress): string =>
  `{IP:(string)${ip} Hostname:(string)${hostname} NodeName:(*string)${nodeName ?? '<nil>'} ` +
  `TargetRef:(*v1.ObjectReference)${targetRef === undefined ? '<nil>' : referenceFields(targetRef)}}`;

const referenceFields = ({ kind = '', namespace = '', name = '', uid = '', apiVersion = '', resourceVersion = '', fieldPath = '' }: ObjectReference): string =>
  `{Kind:(string)${kind} Namespace:(string)${namespace} Name:(string)${name} UID:(types.UID)${uid} ` +
  `APIVersion:(string)${apiVersion} ResourceVersion:(string)${resourceVersion} FieldPath:(string)${fieldPath}}`;
