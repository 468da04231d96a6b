import type { RequestInfo } from '../../api/request-info.ts';
import type { Status } from '../../api/status.ts';
import type { User } from '../api.ts';
import type { AuditLevel, AuditStage } from './policy.ts';

/** The facts of a request that are known so far. */
export interface AuditEvent {
  readonly auditId: string;
  readonly requestUri: string;
  readonly userAgent: string;
  readonly sourceIps: readonly string[];
  /** Milliseconds since 1970. */
  readonly received: number;
  level: AuditLevel;
  verb: string;
  user: User | undefined;
  impersonatedUser: User | undefined;
  objectRef: ObjectReference | undefined;
  responseStatus: Partial<Status> | undefined;
  /** JSON. */
  requestObject: string | undefined;
  responseObject: string | undefined;
  readonly annotations: Record<string, string>;
}

/** In the order in which Kubernetes prints it; '' is not printed. */
export interface ObjectReference {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** One line of the log: an Event of audit.k8s.io/v1, its fields in Kubernetes' order. */
export function eventLine(recorded: AuditEvent, stage: AuditStage, at: number): string {
  const { auditId, requestUri, verb, userAgent, sourceIps, responseStatus, annotations } = recorded;
  const head = JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: recorded.level,
    auditID: auditId,
    stage,
    requestURI: requestUri,
    verb,
    user: recorded.user === undefined ? {} : userInfo(recorded.user),
    impersonatedUser: recorded.impersonatedUser && userInfo(recorded.impersonatedUser),
    sourceIPs: sourceIps.length === 0 ? undefined : sourceIps,
    userAgent: userAgent === '' ? undefined : shortened(userAgent),
    objectRef: recorded.objectRef && printed(recorded.objectRef),
    responseStatus: responseStatus && { metadata: {}, ...responseStatus },
  });
  const objects = `${member('requestObject', recorded.requestObject)}${member('responseObject', recorded.responseObject)}`;
  const notes = Object.keys(annotations).length === 0 ? '' : `,"annotations":${JSON.stringify(sorted(annotations))}`;
  const times = `,"requestReceivedTimestamp":"${microTime(recorded.received)}","stageTimestamp":"${microTime(at)}"`;
  return `${head.slice(0, -1)}${objects}${times}${notes}}\n`;
}

const member = (name: string, json: string | undefined): string => (json === undefined ? '' : `,"${name}":${json}`);

const userInfo = ({ name, uid, groups, extra }: User) => ({
  username: name,
  uid,
  groups: groups.length === 0 ? undefined : groups,
  extra: extra === undefined || Object.keys(extra).length === 0 ? undefined : extra,
});

const printed = (reference: ObjectReference): object => Object.fromEntries(Object.entries(reference).filter(([, text]) => text !== ''));

const sorted = (map: Readonly<Record<string, string>>): object => Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The clock counts milliseconds; the format has microseconds. */
const microTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}000Z`;

/** Kubernetes' bound. */
const maxUserAgent = 1024;
const shortened = (agent: string): string => (agent.length > maxUserAgent ? `${agent.slice(0, maxUserAgent)}...TRUNCATED` : agent);

export function objectReferenceOf(info: RequestInfo): ObjectReference | undefined {
  if (info.type === 'path') return undefined;
  const { resource, namespace, name, group, version, subresource } = info;
  return { resource, namespace, name, uid: '', apiGroup: group, apiVersion: version, resourceVersion: '', subresource };
}
