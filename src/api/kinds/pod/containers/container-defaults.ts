import type { Container, EphemeralContainer, HTTPGetAction, ObjectFieldSelector, Probe } from '../../../generated/types.ts';
import { defaultPullPolicy } from '../image-name.ts';
import { roundUpResources } from '../resource-amounts.ts';

/** Fills in what a container leaves out, whether it is in a pod or in a template. */
export function defaultContainer(container: Container | EphemeralContainer): void {
  container.imagePullPolicy ??= defaultPullPolicy(container.image ?? '');
  container.terminationMessagePath ??= '/dev/termination-log';
  container.terminationMessagePolicy ??= 'File';
  for (const port of container.ports ?? []) port.protocol ??= 'TCP';
  for (const variable of container.env ?? []) {
    if (variable.valueFrom?.fieldRef) defaultFieldSelector(variable.valueFrom.fieldRef);
    if (variable.valueFrom?.fileKeyRef) variable.valueFrom.fileKeyRef.optional ??= false;
  }
  roundUpResources(container.resources);
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) if (probe) defaultProbe(probe);
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop]) if (handler?.httpGet) defaultHttpGet(handler.httpGet);
}

function defaultProbe(probe: Probe): void {
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
  if (probe.httpGet) defaultHttpGet(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
}

function defaultHttpGet(action: HTTPGetAction): void {
  action.path ??= '/';
  action.scheme ??= 'HTTP';
}

export function defaultFieldSelector(selector: ObjectFieldSelector): void {
  selector.apiVersion ??= 'v1';
}
